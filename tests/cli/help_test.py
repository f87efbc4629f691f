"""Every command's help fits 80 columns and ends with an example that works."""

import os
import re
import subprocess
import tempfile
import unittest

from tool import TOOL, ToolTest


class Help(ToolTest):
    def commands(self):
        listed = self.ok("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        # `remote` needs servers: tests/redis/remote_test.py.
        return [c for c in re.findall(r"^  (\w+)  ", listed, re.M) if c != "remote"]

    def test_all_commands_are_there(self):
        self.assertTrue({"filters", "create", "add", "check", "remove", "merge", "info", "replay", "generate"} <= set(self.commands()))

    def test_examples_work(self):
        for command in self.commands():
            text = self.ok(command, "--help")
            self.assertRegex(text, r"\nExamples?:\n(  .*\n)+\Z", command)
            script = re.split(r"\nExamples?:\n", text)[1]
            self.assertIn(f"tamis {command}", script)
            env = {**self.env, "PATH": os.path.dirname(TOOL) + ":" + self.env["PATH"]}
            with tempfile.TemporaryDirectory() as place:
                done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=place, env=env, capture_output=True)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr.decode()}")
            self.assertEqual(done.stdout == b"", command == "completion", command)  # its example defines a function

    def test_lines_fit(self):
        for command in ["", *self.commands()]:
            for line in self.ok(*([command] if command else []), "--help").splitlines():
                self.assertLessEqual(len(line), 80, f"{command}: {line}")

    def test_json_flag_everywhere(self):
        for command in set(self.commands()) - {"completion"}:  # whose result is a script
            self.assertIn("--json FILE|-", self.ok(command, "--help"))


if __name__ == "__main__":
    unittest.main()
