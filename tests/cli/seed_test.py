"""Seeds and secrets: given, drawn at random, shown, kept and never lost."""

import json
import os
import re
import subprocess
import unittest

from tool import TOOL, ToolTest

CREATE = ("create", "f", "--filter", "bloom", "--capacity", "100", "--fpr", "0.001")
KEYED = (*CREATE, "--hash", "keyed", "--seed", "random")


class Seed(ToolTest):
    def secret_in(self, text):
        return re.search(r"(?m)^  export TAMIS_SEED=([0-9a-f]{32})$", text)[1]

    def test_a_fast_seed_is_drawn_shown_and_saved(self):
        shown = re.search(r"(?m)^seed ([0-9a-f]{16}), drawn at random and saved in the file$", self.ok(*CREATE, "--seed", "random"))[1]
        self.assertRegex(self.ok("info", "f"), rf"hash +fast, seed {shown.lstrip('0')}\n")
        self.ok("add", "f", stdin="a\n")
        self.assertEqual(self.ok("check", "f", "--seed", shown, stdin="a\n"), "a\n")
        made = self.json(*CREATE, "--seed", "random", "--force")
        self.assertNotEqual(made["seed"], shown)
        self.assertEqual(made["hash"], "fast")

    def test_a_secret_is_drawn_and_shown_and_not_saved(self):
        secret = self.secret_in(self.ok(*KEYED))
        self.assertNotIn(bytes.fromhex(secret), self.read("f"))
        self.refused("add", "f", stdin="a\n", says="TAMIS_SEED")
        self.ok("add", "f", stdin="a\n", env={"TAMIS_SEED": secret})
        self.assertEqual(self.ok("check", "f", stdin="a\nb\n", env={"TAMIS_SEED": secret}), "a\n")
        self.assertEqual(self.json("info", "f")["hash"], "keyed")

    def test_secrets_differ(self):
        self.assertEqual(len({self.secret_in(self.ok(*KEYED, "--force")) for _ in range(20)}), 20)

    def test_the_flag_wins_over_the_environment(self):
        secret = self.secret_in(self.ok(*KEYED, env={"TAMIS_SEED": "0" * 32}))
        self.assertNotEqual(secret, "0" * 32)
        self.ok("check", "f", env={"TAMIS_SEED": secret})

    def test_json_on_standard_output_has_the_secret_and_a_file_has_not(self):
        made = self.json(*KEYED)
        self.assertRegex(made["seed"], r"^[0-9a-f]{32}$")
        self.ok("check", "f", env={"TAMIS_SEED": made["seed"]})
        secret = self.secret_in(self.ok(*KEYED, "--force", "--json", "report"))
        self.assertNotIn(secret.encode(), self.read("report"))
        self.assertNotIn("seed", json.loads(self.read("report")))
        self.assertNotIn("seed", self.json(*CREATE, "--force"))  # what was given is known

    def test_a_secret_that_cannot_be_shown_makes_no_filter(self):
        for args in (KEYED, (*KEYED, "--json", "-")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TOOL, *args], cwd=self.dir, env=self.env, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr), (1, b"tamis: standard output: cannot write: No space left on device\n"))
            self.assertEqual(os.listdir(self.dir), [])
        self.refused("create", "-", *KEYED[2:], says="--seed random: the filter takes standard output, and the secret has nowhere to go")

    def test_random_is_for_new_filters(self):
        self.ok(*CREATE)
        self.write("keys", "a\n")
        for command in ("add", "check", "remove"):
            self.refused(command, "f", "keys", "--seed", "random", says="f: it has a seed already; --seed random is for `tamis create`")
        self.refused("merge", "g", "f", "--seed", "random", says="f: it has a seed already")

    def test_a_missing_secret_is_asked_for(self):
        message = self.refused(*CREATE, "--hash", "keyed")
        for part in ("TAMIS_SEED", "--seed", "--seed random draws one and shows it"):
            self.assertIn(part, message)
        self.assertNotIn("random", self.refused(*CREATE, "--hash", "keyed", "--seed", "12"))

    def test_help_says_when_a_seed_is_not_enough(self):
        text = " ".join(self.ok("create", "--help").split())
        self.assertIn("A seed of the fast hash (XXH3) is no defence, random or not", text)
        self.assertIn("--seed HEX|random", text)


if __name__ == "__main__":
    unittest.main()
