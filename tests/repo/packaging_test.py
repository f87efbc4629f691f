"""tamis as a part of other builds: by FetchContent, from the files that the Conan recipe takes along, and the versions that packages state.
TAMIS_LONG=1 builds the project of the FetchContent example whole and runs it; otherwise only its program is compiled."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"project\(tamis VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Packaging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def configured(self, source, *options):
        build = self.folder / "build"
        run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options)
        return build

    def test_fetch_content(self):
        build = self.configured(ROOT / "examples" / "fetch_content", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        targets = run("ninja", "-C", build, "-t", "targets", "all")
        self.assertIn("libtamis.a", targets)
        for other in ("tamis_tool", "tamis_python", "test_conformance", "benchmark"):
            self.assertNotIn(other, targets)  # they are the business of tamis's own build
        if "TAMIS_LONG" not in os.environ:
            commands = json.loads((build / "compile_commands.json").read_text())
            command = next(entry["command"] for entry in commands if entry["file"].endswith("seen_set.cpp"))
            run("sh", "-c", f"cd {build} && {command} -fsyntax-only")
            return
        run("cmake", "--build", build, "--target", "seen_set")
        self.assertIn("alice: maybe", run(build / "seen_set"))

    def test_conan_takes_along_what_the_build_needs(self):
        recipe = (ROOT / "packaging" / "conan" / "conanfile.py").read_text()
        patterns = re.findall(r'"([^"]+)"', re.search(r"for pattern in \(([^)]*)\)", recipe).group(1))
        source = self.folder / "source"
        for pattern in patterns:
            if pattern.endswith("/*"):
                shutil.copytree(ROOT / pattern[:-2], source / pattern[:-2], dirs_exist_ok=True)
            else:
                source.mkdir(exist_ok=True)
                shutil.copy(ROOT / pattern, source / pattern)
        build = self.configured(source, "-DTAMIS_TOOLS=OFF", "-DTAMIS_PYTHON=OFF", "-DTAMIS_ROCKSDB=OFF")
        self.assertIn("libtamis.so", run("ninja", "-C", build, "-t", "targets", "all"))

    def test_versions(self):
        self.assertIn(f'version = "{VERSION}"', (ROOT / "packaging" / "conan" / "conanfile.py").read_text())
        self.assertEqual(json.loads((ROOT / "packaging" / "vcpkg" / "tamis" / "vcpkg.json").read_text())["version"], VERSION)
        in_header = re.findall(r"#define TAMIS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/tamis/tamis.h").read_text())
        self.assertEqual(".".join(in_header), VERSION)
        self.assertTrue((ROOT / "debian" / "changelog").read_text().startswith(f"tamis ({VERSION}) "))

    def test_the_packages_are_built_with_all_that_setup_installs(self):
        wanted = re.search(r"^packages=\(([^)]*)\)", (ROOT / "setup").read_text(), re.MULTILINE).group(1).split()
        depends = re.search(r"^Build-Depends:(.*?)^\S", (ROOT / "debian" / "control").read_text(), re.MULTILINE | re.DOTALL).group(1)
        present = re.findall(r"[a-z0-9][a-z0-9+.-]+", re.sub(r"\([^)]*\)", "", depends))
        self.assertEqual([name for name in wanted if name not in present], ["g++"])  # which every Debian build has

    def test_an_archive_knows_its_commit(self):
        (self.folder / "cmake").mkdir()
        for text, revision in (("abcdef1234\n", "abcdef1234"), ("$Format:%h$\n", "unknown")):
            (self.folder / "cmake" / "revision.txt").write_text(text)
            run("cmake", f"-DROOT={self.folder}", f"-DOUT={self.folder / 'revision.hpp'}", "-P", ROOT / "cmake" / "revision.cmake")
            self.assertIn(f'TAMIS_REVISION "{revision}"', (self.folder / "revision.hpp").read_text())


if __name__ == "__main__":
    unittest.main()
