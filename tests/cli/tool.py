"""Runs the tool in a directory of its own. Every test's directory must be empty of temporary files when it ends."""

import hashlib
import json
import os
import subprocess
import tempfile
import unittest

TOOL = os.environ["TAMIS_TOOL"]


class ToolTest(unittest.TestCase):
    def setUp(self):
        self._dir = tempfile.TemporaryDirectory(prefix="tamis-cli-")
        self.dir = self._dir.name
        self.env = {k: v for k, v in os.environ.items() if k not in ("TAMIS_SEED", "NO_COLOR")}

    def tearDown(self):
        left = [f for f in os.listdir(self.dir) if ".tmp-" in f]
        self._dir.cleanup()
        self.assertEqual(left, [], "temporary files were left behind")

    def run_tool(self, *args, stdin=b"", env=None, **more):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        return subprocess.run([TOOL, *args], input=stdin, capture_output=True, cwd=self.dir, env={**self.env, **(env or {})}, **more)

    def ok(self, *args, **more):
        """Standard output of a command that must succeed."""
        done = self.run_tool(*args, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def refused(self, *args, code=1, says="", **more):
        """Standard error of a command that must fail, which has the form `tamis: THING: REASON`."""
        done = self.run_tool(*args, **more)
        message = done.stderr.decode()
        self.assertEqual(done.returncode, code, message)
        self.assertRegex(message, r"(?s)\Atamis: .+: .+" if code == 1 else r"\Atamis: .+")
        self.assertIn(says, message)
        return message

    def json(self, *args, **more):
        return json.loads(self.ok(*args, "--json", "-", **more))

    def create(self, name="f", filter="bloom", capacity="1000", fpr="0.01", *more):
        self.ok("create", name, "--filter", filter, "--capacity", capacity, "--fpr", fpr, *more)
        return name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return name

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def sum(self, name):
        return hashlib.sha256(self.read(name)).hexdigest()


def lines(first, last):
    return "".join(f"{i}\n" for i in range(first, last + 1))
