"""Whatever is wrong is said, with exit code 1 (usage: 2), and no file is changed."""

import os
import re
import shutil
import threading
import unittest

from tool import TOOL, ToolTest, lines


class BadInput(ToolTest):
    def refused_without_change(self, name, *args, **more):
        before = self.sum(name)
        self.refused(*args, **more)
        self.assertEqual(self.sum(name), before)

    def test_files_that_are_no_filters(self):
        self.create("good")
        self.ok("add", "good", stdin=lines(1, 100))
        good = self.read("good")
        future = bytearray(good)
        future[8] = 99
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        for name, content, says in [
            ("text", b"just a text\n", "text: it is not a tamis file"),
            ("empty", b"", "empty: it is not a tamis file"),
            ("cut", good[:-1], "cut: it ends too early"),
            ("head", good[:20], "head: "),
            ("longer", good + b"x", "longer: there are bytes after its end"),
            ("future", bytes(future), "future: its format version is 99"),
            ("flipped", bytes(flipped), "flipped: the checksum"),
        ]:
            self.write(name, content)
            for args in (["add", name], ["remove", name], ["check", name], ["info", name], ["merge", "out", name], ["merge", "out", "good", name]):
                self.refused_without_change(name, *args, stdin="a\n", says=says)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_missing_files_and_directories(self):
        self.create()
        os.mkdir(self.path("d"))
        for command in ("add", "remove", "check", "info"):
            self.refused(command, "nowhere", says="nowhere: ")
            self.refused(command, "d", says="d: is a directory")
        for command in ("add", "check"):
            self.refused_without_change("f", command, "f", "nowhere", says="nowhere: cannot open: No such file")
            self.refused_without_change("f", command, "f", "d", says="d: is a directory")
            self.refused_without_change("f", command, "f", "f/x", says="f/x: cannot open: Not a directory")
        size = ["--filter", "bloom", "--capacity", "10", "--fpr", "0.1"]
        self.refused("create", "d", *size, says="d: is a directory")
        self.refused("create", "d", "--force", *size, says="d: is a directory")
        self.refused("create", "no/such/f", *size, says="No such file")
        self.refused_without_change("f", "add", "f", "--json", "no/such.json", stdin="a\n", says="no/such.json")
        self.refused_without_change("f", "add", "f", "--json", "f", stdin="a\n", says="f: is changed as FILE, and --json would write over it")

    def test_a_named_pipe_or_a_device_is_no_filter(self):
        """Opening a pipe that nobody writes to would wait for ever."""
        self.create("good", "counting-bloom")
        os.mkfifo(self.path("pipe"))
        os.symlink("pipe", self.path("link"))
        for name in ("pipe", "link", "/dev/null", "/dev/zero"):
            for args in (["add", name], ["remove", name], ["check", name], ["info", name], ["merge", "out", name], ["merge", "out", "good", name]):
                for more in ([], ["--json", "-"]):
                    message = self.refused(*args, *more, stdin="a\n", timeout=20)
                    self.assertEqual(message, f"tamis: {name}: is not a regular file\n")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_keys_may_come_through_a_named_pipe(self):
        self.create()
        os.mkfifo(self.path("pipe"))
        for command, shown in (("add", "f: added 2 keys, refused 0\n"), ("check", "a\nb\n")):
            writer = threading.Thread(target=lambda: self.write("pipe", "a\nb\n"))
            writer.start()
            self.assertEqual(self.ok(command, "f", "pipe", timeout=20), shown)
            writer.join()

    def test_a_filter_is_not_its_own_keys(self):
        self.create("f", "counting-bloom")
        for command in ("add", "remove"):
            for keys in ("f", "./f"):
                self.refused_without_change("f", command, "f", keys, says="f: is read as KEYS, and FILE would write over it")

    def test_a_read_only_filter_is_not_changed(self):
        """Also not by root, whom no mode bits stop."""
        self.create("f", "counting-bloom")
        self.ok("add", "f", stdin="a\n")
        os.symlink("f", self.path("link"))
        for mode in (0o444, 0o400, 0o555):
            os.chmod(self.path("f"), mode)
            for command in ("add", "remove"):
                for name in ("f", "link"):
                    message = self.refused(command, name, "--json", "result.json", stdin="a\n")
                    self.assertEqual(message, f"tamis: {name}: is read-only; `chmod u+w` allows changes\n")
            self.assertEqual(self.ok("check", "f", stdin="a\n"), "a\n")
            self.assertEqual(sorted(os.listdir(self.dir)), ["f", "link"])
        os.chmod(self.path("f"), 0o600)
        self.ok("remove", "f", stdin="a\n")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
    def test_another_ones_filter_is_not_changed(self):
        """A folder that all may write to is enough to replace a file in it; its owner has not allowed that."""
        self.create("f")
        shutil.copy(TOOL, self.path("tool"))
        os.chmod(self.dir, 0o777)
        before = self.sum("f")
        self.refused("add", "f", stdin="a\n", says="tamis: f: cannot be changed: Permission denied", user=65534, executable=self.path("tool"))
        self.assertEqual(self.sum("f"), before)

    def test_unreadable(self):
        self.create()
        self.write("keys", "a\n")
        os.chmod(self.dir, 0o755)
        somebody = {}
        if os.geteuid() == 0:  # root may read and write everything; and the tool may lie in root's home, where nobody else may look
            shutil.copy(TOOL, self.path("tool"))
            somebody = {"user": 65534, "executable": self.path("tool")}
            self.refused("create", "g", "--filter", "bloom", "--capacity", "1", "--fpr", "0.1", says="Permission denied", **somebody)
        for name, args in (("f", ["info", "f"]), ("f", ["add", "f"]), ("keys", ["check", "f", "keys"])):
            os.chmod(self.path(name), 0)
            self.refused(*args, says=f"{name}: cannot open: Permission denied", **somebody)
            os.chmod(self.path(name), 0o644)

    def test_wrong_values(self):
        def create(filter="bloom", capacity="1000", fpr="0.01", *more):
            self.refused("create", "f", "--filter", filter, "--capacity", capacity, "--fpr", fpr, *more[1:], says=more[0])
            self.assertEqual(os.listdir(self.dir), [])

        for capacity in ("0", "-1", "1.5", "abc", "1152921504606846976", "1e60", "nan", "inf", "1Q", "1e6x"):
            create("bloom", capacity, "0.01", "must be a whole number from 1 to 281474976710656")
        for rate in ("0", "1", "1.5", "-0.1", "nan", "abc"):
            create("bloom", "1000", rate, f"--fpr '{rate}': must be a number above 0 and below 1")
        create("bloom", str(2**48), "0.01", "does not fit into this machine's memory")
        create("blum", "1000", "0.01", "filter 'blum': unknown, there are: bloom")
        create("bloom", "1000", "0.01", "option 'x': unknown", "--option", "x=1")
        create("bloom", "1000", "0.01", "must be NAME=VALUE", "--option", "k")
        create("bloom", "1000", "0.01", "option k=99", "--option", "k=99")
        create("bloom", "1000", "0.01", "given twice", "--option", "k=2", "--option", "k=3")
        create("bloom", "1000", "0.01", "must be fast or keyed", "--hash", "slow")
        create("bloom", "1000", "0.01", "up to 16 hexadecimal digits", "--seed", "xyz")
        self.refused("create", "f", "--filter", "bloom", "--capacity", "1", "--bits-per-key", "0", says="above 0 and at most 4096")

    def test_empty_values_are_named(self):
        """Of every command: each flag that takes a value, and each positional, given as ''."""
        self.create()
        self.write("keys", "a\n")
        required = {
            "create": ["FILE", "--filter", "bloom", "--capacity", "10", "--fpr", "0.1"], "add": ["FILE"], "check": ["FILE"], "remove": ["FILE"],
            "merge": ["OUT", "FILE"], "fold": ["FILE", "--fpr", "0.1"], "sums": ["FILE", "--out", "s"],
            "diff": ["OLD", "NEW", "--out", "p"], "patch": ["FILE", "PATCH"], "info": ["FILE"], "advise": ["--capacity", "10", "--fpr", "0.1"], "generate": ["WORKLOAD"],
            "reproduce": ["EXPERIMENT"],
        }  # fmt: skip
        listed = self.ok("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        before = sorted(os.listdir(self.dir))
        for command in re.findall(r"^  (\w+)  ", listed, re.M):
            if command in ("remote", "completion"):
                continue  # commands of its own, which need servers (tests/redis/remote_test.py); no flags
            text = self.ok(command, "--help")
            flags = re.findall(r"^  (?:-\w,)?(--[\w-]+) (?=[^ ])", text, re.M)
            self.assertIn("--json", flags)
            args = required.get(command, [])
            for flag in flags:
                if flag == "--scale":
                    continue  # its values are listed
                others = [a for i, a in enumerate(args) if flag not in (a, args[i - 1] if i else "")]
                if flag == "--bits-per-key" and "--fpr" in others:
                    others = [a for a in others if a not in ("--fpr", "0.1")]
                for given in ([flag, ""], [flag + "="]):
                    message = self.refused(command, *others, *given)
                    self.assertEqual(message, f"tamis: {flag} '': must not be empty\n", (command, given))
            for name in [a for a in args if a.isupper()] + (["KEYS"] if command in ("add", "check", "remove") else []):
                given = ["" if a == name else "f" if a.isupper() else a for a in args] + ([""] if name == "KEYS" else [])
                self.assertEqual(self.refused(command, *given), f"tamis: {name} '': must not be empty\n", given)
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        self.refused("", code=2, says="tamis: '': no such command")

    def test_usage(self):
        for args in (
            [],
            ["nonsense"],
            ["create"],
            ["create", "f"],
            ["create", "f", "--filter", "bloom", "--capacity", "10"],
            ["create", "f", "--filter", "bloom", "--capacity", "10", "--fpr", "0.1", "--bits-per-key", "8"],
            ["create", "f", "--filter", "bloom", "--capacity", "10", "--fpr", "0.1", "--nonsense"],
            ["add"],
            ["check", "f", "k", "too many"],
            ["merge", "out"],
            ["replay", "--members", "m"],
        ):
            self.refused(*args, code=2, says="--help")
        self.refused("create", "f", "--nonsense", code=2, says="'--nonsense' was not expected")

    def test_existing_file_is_kept_unless_forced(self):
        self.create()
        self.ok("add", "f", stdin="a\n")
        again = ["create", "f", "--filter", "bloom1", "--capacity", "10", "--fpr", "0.1"]
        self.refused_without_change("f", *again, says="f: exists already; --force replaces it")
        self.ok(*again, "--force")
        self.assertEqual(self.json("info", "f")["filter"], "bloom1")
        self.write("mine", "my own text")
        self.refused_without_change("mine", "create", "mine", *again[2:], says="exists already")

    def test_keyed_hash_needs_its_secret(self):
        secret, wrong = "00112233445566778899aabbccddeeff", "f" * 32
        create = ["create", "f", "--filter", "bloom", "--capacity", "100", "--fpr", "0.01", "--hash", "keyed"]
        self.refused(*create, says="TAMIS_SEED")
        self.refused(*create, "--seed", "1234", says="exactly 32 hexadecimal digits")
        self.assertNotIn("1234", self.refused(*create, env={"TAMIS_SEED": "1234"}))
        self.ok(*create, env={"TAMIS_SEED": secret})
        self.ok("add", "f", "--seed", secret, stdin="a\n")
        self.assertEqual(self.ok("check", "f", stdin="a\nb\n", env={"TAMIS_SEED": secret}), "a\n")
        for command in ("add", "check"):
            self.refused_without_change("f", command, "f", stdin="a\n", says="TAMIS_SEED")
            self.refused_without_change("f", command, "f", stdin="a\n", env={"TAMIS_SEED": wrong}, says="another seed")
            self.refused_without_change("f", command, "f", "--seed", wrong, stdin="a\n", says="another seed")
        self.assertEqual(self.json("info", "f")["hash"], "keyed")  # looking needs no secret
        self.assertNotIn(bytes.fromhex(secret), self.read("f"))
        self.ok("merge", "g", "f", "f", env={"TAMIS_SEED": secret})
        self.assertEqual(self.json("check", "g", stdin="a\n", env={"TAMIS_SEED": secret})["maybe"], 1)

    def test_fast_hash_carries_its_seed(self):
        self.create("f", "bloom", "100", "0.01", "--seed", "beef")
        self.ok("add", "f", stdin="a\n", env={"TAMIS_SEED": "f" * 32})  # the environment is for keyed filters
        self.assertEqual(self.ok("check", "f", "--seed", "beef", stdin="a\n"), "a\n")
        self.refused("check", "f", "--seed", "dead", stdin="a\n", says="another seed")

    def test_disk_full_keeps_the_old_file(self):
        self.create("f", "bloom", "1M")
        before = self.sum("f")

        def little_room():
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        self.refused("add", "f", stdin="a\n", preexec_fn=little_room, says="f: cannot write: File too large")
        self.refused("create", "g", "--filter", "bloom", "--capacity", "1M", "--fpr", "0.01", preexec_fn=little_room, says="File too large")
        self.assertEqual((self.sum("f"), os.listdir(self.dir)), (before, ["f"]))

    def test_unknown_cpu_level(self):
        self.refused("filters", env={"TAMIS_CPU": "nonsense"}, says="nonsense")


if __name__ == "__main__":
    unittest.main()
