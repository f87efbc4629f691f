"""Installs tamis into a new folder and uses it from there as a user's project would, once through CMake and once through pkg-config.
The program is the example of the README, so that is compiled and run too."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FLAGS = sys.argv.pop(1).split()
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def readme_example():
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    examples = [block for block in blocks if "int main" in block]
    assert len(examples) == 1, "the README has one complete C++ example"
    return examples[0]


class Readme(unittest.TestCase):
    def test_the_first_example_is_one_of_the_examples(self):
        text = (ROOT / "examples" / "seen_set.cpp").read_text()
        self.assertEqual(text.split("\n\n", 1)[1], readme_example())  # all but the comment at its top


def guard_example():
    """The example of docs/guarded-store.md, made a whole program."""
    block = re.search(r"```cpp\n(.*?)```", (ROOT / "docs" / "guarded-store.md").read_text(), re.DOTALL).group(1)
    includes = [line for line in block.splitlines() if line.startswith("#include")]
    body = [line for line in block.splitlines() if not line.startswith("#include")]
    return "\n".join([*includes, "int main() {", *body, "}", ""])


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        cls.source = pathlib.Path(cls.folder.name) / "example.cpp"
        cls.source.write_text(readme_example())
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_find_package(self):
        build = pathlib.Path(self.folder.name) / "build"
        run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCONSUMER_SOURCE={self.source}", f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS)}")
        run("cmake", "--build", build)
        run(build / "consumer")

    def test_find_package_with_guard(self):
        if "TAMIS_ROCKSDB:BOOL=ON" not in (BUILD / "CMakeCache.txt").read_text().replace("=TRUE", "=ON").replace("=1", "=ON"):
            self.skipTest("this tamis was built without RocksDB")
        build = pathlib.Path(self.folder.name) / "guard-build"
        source = pathlib.Path(self.folder.name) / "guard.cpp"
        source.write_text(guard_example())
        run("cmake", "-S", HERE / "consumer", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCONSUMER_GUARD=ON",
            f"-DCONSUMER_SOURCE={source}", f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS)}")
        run("cmake", "--build", build)
        run(build / "consumer", cwd=self.folder.name)
        self.assertTrue((pathlib.Path(self.folder.name) / "seen" / "db" / "CURRENT").exists())

    def test_pkg_config(self):
        folders = [str(path.parent) for path in self.prefix.rglob("tamis.pc")]
        environment = {**os.environ, "PKG_CONFIG_PATH": ":".join(folders)}
        arguments = run("pkg-config", "--cflags", "--libs", "tamis++", env=environment).split()
        program = pathlib.Path(self.folder.name) / "by-pkg-config"
        self.assertNotIn("-std", " ".join(arguments))  # the user's choice, as long as it is 20 or later
        run("g++", "-std=c++20", *FLAGS, self.source, *arguments, "-o", program)
        run(program)

    def c_example(self):
        source = pathlib.Path(self.folder.name) / "example.c"
        source.write_text(re.search(r"```c\n(.*?)```", (ROOT / "docs" / "c.md").read_text(), re.DOTALL).group(1))
        return source

    def test_pkg_config_in_c(self):
        folders = [str(path.parent) for path in self.prefix.rglob("tamis.pc")]
        environment = {**os.environ, "PKG_CONFIG_PATH": ":".join(folders)}
        program = pathlib.Path(self.folder.name) / "c-by-pkg-config"
        for package in ("tamis", "tamis-guard"):
            arguments = run("pkg-config", "--cflags", "--libs", package, env=environment).split()
            libraries = run("pkg-config", "--variable=libdir", package, env=environment).strip()
            run("gcc", "-std=c99", self.c_example(), *arguments, "-o", program)
            self.assertEqual(run(program, env={**os.environ, "LD_LIBRARY_PATH": libraries}), "1\n")

    def test_find_package_in_a_project_without_cxx(self):
        folder = pathlib.Path(self.folder.name) / "c-project"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES C)\nfind_package(tamis REQUIRED COMPONENTS guard_c)\n"
            f"add_executable(consumer {self.c_example()})\ntarget_link_libraries(consumer PRIVATE tamis::c tamis::guard_c)\n")
        run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", folder / "build")
        self.assertEqual(run(folder / "build" / "consumer"), "1\n")

    def test_licences_come_with_the_library(self):
        notices = list(self.prefix.rglob("THIRD_PARTY.md"))
        self.assertEqual(len(notices), 1)
        self.assertIn("Yann Collet", notices[0].read_text())  # xxHash is compiled into the library
        self.assertTrue((notices[0].parent / "LICENSE").exists())

    def test_every_public_header_compiles_alone(self):
        include = self.prefix / "include"
        names = sorted(str(header.relative_to(include)) for header in (include / "tamis").rglob("*.hpp"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, complaint in zip(names, pool.map(lambda name: self.compile_alone(include, name), names)):
                with self.subTest(header=name):
                    self.assertEqual(complaint, "")

    @staticmethod
    def compile_alone(include, name):
        command = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-x", "c++", "-"]
        return subprocess.run(command, input=f"#include <{name}>\n", capture_output=True, text=True).stderr


if __name__ == "__main__":
    unittest.main()
