"""What comes from outside, such as the name of a file, is shown so that no terminal obeys it and every reader sees it."""

import os
import re
import unittest

from files_test import COMMANDS
from tool import ToolTest, lines

HOSTILE = b"a\x1b]0;x\x07\x1b[2J\r\n\t\x7f\xc2\x9b31m\xe2\x80\xae\xff\xc0\xafz"
SHOWN = r"a\x1b]0;x\x07\x1b[2J\r\n\t\x7f\u009b31m\u202e\xff\xc0\xafz"
UTF8 = {"LC_ALL": "C.UTF-8"}
ASCII = {"LC_ALL": "C"}


class ShownText(ToolTest):
    def is_harmless(self, done, args):
        for stream in (done.stdout, done.stderr):
            text = stream.decode()  # valid UTF-8
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text), (args, text))

    def test_names_that_work(self):
        for name, about in COMMANDS.items():
            places = {}
            self.create(os.fsdecode(HOSTILE) + "-file", about.get("filter", "counting-bloom"), "1000", "0.1", "--force")
            self.ok("add", os.fsdecode(HOSTILE) + "-file", stdin=lines(1, 10))
            held = {"OLD": "old", "NEW": "new", "PATCH": "patch"}
            self.write("old", self.read(os.fsdecode(HOSTILE) + "-file"))
            self.write("new", self.read("old"))
            self.ok("add", "new", stdin=lines(11, 20))
            self.ok("diff", "old", "new", "--out", "patch", "--force")
            for flag in about.get("reads", []) + about.get("changes", []) + about["creates"]:
                places[flag] = HOSTILE + ("-" + flag.strip("-").lower()).encode()
                if flag in about["creates"]:
                    if flag == "FILE" or flag == "OUT":
                        places[flag] += b"-new"
                elif flag != "FILE":
                    with open(os.path.join(os.fsencode(self.dir), places[flag]), "wb") as f:
                        f.write(self.read(held[flag]) if flag in held else (lines(1, 10) if flag != "--queries" else lines(5, 50)).encode())
            args = [places[a[1:-1]] if a.startswith("{") else a.encode() for a in about["args"]]
            for flag in about["creates"]:
                args += [flag.encode(), places[flag]] if flag.startswith("--") and flag.encode() not in args else []
            for env in (UTF8, ASCII):
                self.write(os.fsdecode(HOSTILE) + "-file", self.read("old"))
                done = self.run_tool(*args, b"--force", env=env)
                self.assertEqual(done.returncode, 0, (args, done.stderr))
                self.is_harmless(done, args)
                for flag in about["creates"]:
                    if flag in ("--json", "--html"):
                        with open(os.path.join(os.fsencode(self.dir), places[flag]), "rb") as f:
                            self.assertNotIn(b"\x1b", f.read())

    def test_all_values_in_all_messages(self):
        """Each flag of each command gets the hostile text, which mostly is refused."""
        self.create()
        for command in COMMANDS:
            text = self.ok(command, "--help")
            positionals = re.findall(r"^  ([A-Z]+)(?:\s|$)", text, re.M)
            for flag in re.findall(r"^  (?:-\w,)?(--[\w-]+) (?=[^ ])", text, re.M):
                for more in ([], ["f", "f"][: len(positionals)], ["--capacity", "10", "--fpr", "0.1", "--filter", "bloom", "new"]):
                    for value in (HOSTILE, b"rocksdb:" + HOSTILE, HOSTILE + b"=1"):
                        args = [command.encode(), *(m.encode() for m in more), flag.encode(), value]
                        self.is_harmless(self.run_tool(*args, timeout=60), args)
            for count in range(1, 4):
                args = [command.encode(), *[HOSTILE] * count]
                self.is_harmless(self.run_tool(*args, timeout=60), args)
        for args in ([HOSTILE], [b"create", b"--" + HOSTILE], [b"--" + HOSTILE], [b"create", b"f", b"-" + HOSTILE]):
            self.is_harmless(self.run_tool(*args), args)

    def test_escapes(self):
        for env, umlaut in ((UTF8, "ä"), (ASCII, r"\xc3\xa4")):
            done = self.run_tool("info", HOSTILE, env=env)
            shown = SHOWN if env is UTF8 else SHOWN.replace(r"\u009b", r"\xc2\x9b").replace(r"\u202e", r"\xe2\x80\xae")
            self.assertEqual(done.stderr.decode(), f"tamis: {shown}: cannot open: No such file or directory\n")
            self.assertEqual(self.run_tool("info", "ä", env=env).stderr.decode(), f"tamis: {umlaut}: cannot open: No such file or directory\n")

    def test_invalid_characters_of_all_kinds(self):
        for text in (b"\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\xaf", b"\xc3("):
            done = self.run_tool("info", text, env=UTF8)
            expected = "".join(f"\\x{b:02x}" for b in text).replace(r"\x28", "(")
            self.assertIn(f"tamis: {expected}: ", done.stderr.decode())
        for text in ("ß", "€", "😀", "漢"):
            self.assertIn(f"tamis: {text}: ", self.run_tool("info", text, env=UTF8).stderr.decode())

    def test_a_log_with_any_name(self):
        """Experiments save the name of their log."""
        packets = [f"key {i}" for turn in range(7) for i in range(2000) if i % 7 >= turn]
        with open(os.path.join(os.fsencode(self.dir), HOSTILE), "w") as f:
            f.write("\n".join(packets))
        for _ in range(2):  # the second time it finds its runs again
            args = (b"reproduce", b"acf-traces", b"--log", HOSTILE, b"--runs", b"1", b"--out", b"o" + HOSTILE)
            done = self.run_tool(*args, env=UTF8)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"is made again", done.stderr)
            self.is_harmless(done, args)


if __name__ == "__main__":
    unittest.main()
