"""The shared libraries export what their lists say and nothing else, the headers are C99 and C++11, and their ABI is that of the
committed baseline (baseline/*.abi). TAMIS_WRITE_ABI=1 adds to the baseline what is new; a change or a loss is refused even then."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
BASELINE = pathlib.Path(__file__).resolve().parent / "baseline"
LIBRARIES = {"libtamis.so.0": ("tamis.h", "functions.txt"), "libtamis-guard.so.0": ("tamis_guard.h", "guard_functions.txt")}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def listed(name):
    lines = (ROOT / "integrations" / "c" / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def stub_library(folder, include, header):
    """A C library with the functions of a header, compiled with debug information. The C++ compiler holds the real functions to the same
    declarations, so its ABI is theirs, without what is behind the opaque types."""
    text = (include / "tamis" / header).read_text()
    bodies = re.sub(r"^TAMIS_API ([^;]*);", r"TAMIS_API \1 { __builtin_trap(); }", text, flags=re.MULTILINE)
    source = folder / header.replace(".h", ".c")
    source.write_text(bodies)
    library = folder / f"{header}.so"
    # The text of the header stands in the source; its include of the other header stays one.
    run("gcc", "-std=c99", "-g", "-Og", "-fPIC", "-shared", "-Wno-unused-parameter", f"-I{include}", source, "-o", library)
    return library


def abi_of(folder, library):
    out = folder / f"{library.stem}.abi"
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", out, library)
    return out


# What abidiff says in its exit code, as bits.
ABI_CHANGED, ABI_INCOMPATIBLE = 4, 8


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

    def difference(self, old, new):
        done = subprocess.run(["abidiff", str(old), str(new)], capture_output=True, text=True)
        self.assertEqual(done.returncode & 3, 0, done.stderr)
        return done.returncode, done.stdout

    def lost_or_changed(self, report):
        counts = re.search(r"Functions changes summary: (\d+) Removed, (\d+) Changed", report)
        return counts is not None and (counts.group(1), counts.group(2)) != ("0", "0")

    def test_the_abi_is_that_of_the_baseline(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for header, _ in LIBRARIES.values():
                baseline = BASELINE / f"{header}.abi"
                present = abi_of(folder, stub_library(folder, ROOT / "include", header))
                if not baseline.exists() and "TAMIS_WRITE_ABI" in os.environ:
                    baseline.write_text(present.read_text())
                code, report = self.difference(baseline, present)
                self.assertFalse(code & ABI_INCOMPATIBLE or self.lost_or_changed(report), report)
                if code and "TAMIS_WRITE_ABI" in os.environ:
                    baseline.write_text(present.read_text())
                else:
                    self.assertEqual(code, 0, "new functions: TAMIS_WRITE_ABI=1 adds them to the baseline\n" + report)

    def test_the_baseline_catches_changes(self):
        """A grown struct, a changed argument and a lost function are seen, and a new function is not taken for one of them."""
        changes = {
            "grown": (r"char message\[508\];", "char message[1020];", True),
            "argument": (r"tamis_may_contain_u64\(const tamis_filter\* filter, uint64_t key\)",
                         "tamis_may_contain_u64(const tamis_filter* filter, uint32_t key)", True),
            "lost": (r"TAMIS_API const char\* tamis_code_text\(int code\);", "", True),
            "added": (r"TAMIS_API const char\* tamis_code_text\(int code\);",
                      "TAMIS_API const char* tamis_code_text(int code);\nTAMIS_API int tamis_new(int code);", False),
        }
        for what, (old, new, is_break) in changes.items():
            with self.subTest(change=what), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                text = (ROOT / "include" / "tamis" / "tamis.h").read_text()
                changed = re.sub(old, new, text)
                self.assertNotEqual(changed, text)
                (folder / "include" / "tamis").mkdir(parents=True)
                (folder / "include" / "tamis" / "tamis.h").write_text(changed)
                present = abi_of(folder, stub_library(folder, folder / "include", "tamis.h"))
                code, report = self.difference(BASELINE / "tamis.h.abi", present)
                self.assertNotEqual(code, 0)
                self.assertEqual(bool(code & ABI_INCOMPATIBLE or self.lost_or_changed(report)), is_break, report)

    def test_the_documented_program_is_c99_and_quiet(self):
        program = re.search(r"```c\n(.*?)```", (ROOT / "docs" / "c.md").read_text(), re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as name:
            source, binary = pathlib.Path(name) / "example.c", pathlib.Path(name) / "example"
            source.write_text(program)
            run("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, f"-L{BUILD}", "-ltamis",
                f"-Wl,-rpath,{BUILD}", "-o", binary)
            done = subprocess.run([binary], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))


if __name__ == "__main__":
    unittest.main()
