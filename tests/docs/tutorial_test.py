"""docs/tutorial.md does what it says: its commands run one behind the other in a folder of their own and print what stands there (… is
anything), and its program compiles and prints what is said. So do the fragments of C++ and Python in the README."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TAMIS_SOURCE"])
TOOL = os.environ.get("TAMIS_TOOL")
LIBRARY = os.environ["TAMIS_LIBRARY"]
FLAGS = os.environ.get("TAMIS_FLAGS", "").split()


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def commands(block):
    """[(command, what it prints)]"""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2]))


def fits(printed, said):
    """Is it what stands there? … at the end of a line is the rest of it, … alone any number of lines."""
    pattern = ""
    for line in said.rstrip("\n").split("\n"):
        if line == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern if said.strip() else "", printed) is not None


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, **more)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def compiled(self, source):
        pathlib.Path(self.folder, "example.cpp").write_text(source)
        done = run(["g++", "-std=c++20", "-O1", *FLAGS, f"-I{ROOT / 'include'}", "example.cpp", LIBRARY, "-lpthread", "-o", "example"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(["./example"], self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Tutorial(Folder):
    @unittest.skipUnless(TOOL, "built without the tool")
    def test_commands_print_what_is_said(self):
        bin = pathlib.Path(self.folder, "bin")
        bin.mkdir()
        (bin / "tamis").symlink_to(TOOL)
        environment = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
        every = [pair for block in blocks("docs/tutorial.md", "console") for pair in commands(block)]
        self.assertGreater(len(every), 8)
        for command, said in every:
            with self.subTest(command):
                done = run(["sh", "-c", command], self.folder, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(fits(done.stdout, said), f"printed:\n{done.stdout}\nthe page:\n{said}")

    def test_program_prints_what_is_said(self):
        (program,) = blocks("docs/tutorial.md", "cpp")
        (said,) = blocks("docs/tutorial.md", "text")
        self.assertEqual(self.compiled(program), said)


class Readme(Folder):
    def test_first_program_prints_what_is_said(self):
        program = blocks("README.md", "cpp")[0]
        said = re.findall(r"`(\w+: \w+)`", (ROOT / "README.md").read_text())
        self.assertEqual(self.compiled(program).splitlines(), said)

    def test_fragments_compile_and_run(self):
        fragments = [block for block in blocks("README.md", "cpp") if "int main" not in block]
        self.assertGreater(len(fragments), 0)
        body = "\n".join(f"  {{\n{fragment}  }}" for fragment in fragments)
        self.compiled(f"#include <iostream>\n#include <string>\n#include <tamis/tamis.hpp>\nint main() {{\n{body}\n}}\n")

    @unittest.skipUnless(os.environ.get("TAMIS_PYTHON"), "built without the Python module")
    def test_python_prints_what_is_said(self):
        for block in blocks("README.md", "python"):
            done = run(["/usr/bin/python3", "-c", block], self.folder, env={**os.environ, "PYTHONPATH": os.environ["TAMIS_PYTHON"]})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines(), re.findall(r"print\(.*\)  # (.*)", block))


class Fits(unittest.TestCase):
    def test_only_what_is_said_fits(self):
        self.assertTrue(fits("a 1\nb\n", "a …\nb\n"))
        self.assertTrue(fits("a\nx\ny\nb\n", "a\n…\nb\n"))
        self.assertTrue(fits("", "\n"))
        self.assertFalse(fits("a 1\nb\nc\n", "a …\nb\n"))
        self.assertFalse(fits("a 2\n", "a 1\n"))
        self.assertFalse(fits("a\n", ""))


if __name__ == "__main__":
    unittest.main()
