"""The shared libraries export what their lists say and nothing else, and the headers are C99 and C++11."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
LIBRARIES = {"libtamis.so.0": ("tamis.h", "functions.txt"), "libtamis-guard.so.0": ("tamis_guard.h", "guard_functions.txt")}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def listed(name):
    lines = (ROOT / "integrations" / "c" / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


class Abi(unittest.TestCase):
    def test_the_lists_are_the_headers(self):
        for header, functions in LIBRARIES.values():
            text = (ROOT / "include" / "tamis" / header).read_text()
            self.assertEqual(sorted(re.findall(r"TAMIS_API [^;(]*?(tamis_\w+)\(", text)), listed(functions))

    def test_exports(self):
        for library, (_, functions) in LIBRARIES.items():
            names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", BUILD / library).splitlines()]
            public = sorted(name.split("@")[0] for name in names if name.endswith("@@TAMIS_0"))
            self.assertEqual(public, listed(functions))
            rest = [name for name in names if "@@TAMIS_0" not in name and not re.search(r"@@TAMIS_PRIVATE_[0-9.]+$", name)]
            self.assertEqual([name for name in rest if not name.startswith("TAMIS_")], [])

    def test_soname(self):
        for library in LIBRARIES:
            self.assertIn(f"Library soname: [{library}]", run("readelf", "-d", BUILD / library))

    def test_the_headers_are_c99_and_cxx11(self):
        for header, _ in LIBRARIES.values():
            for compiler, standard, language in (("gcc", "c99", "c"), ("g++", "c++11", "c++")):
                done = subprocess.run([compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                                       f"-I{ROOT / 'include'}", "-x", language, "-"], input=f"#include <tamis/{header}>\n",
                                      capture_output=True, text=True)
                self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
