"""The type stubs say what the module has, and the wheel is what `python3 -m build` makes of it: it holds all it needs, and works alone."""

import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import tamis

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
PACKAGE = SOURCE / "integrations" / "python"
# What every object has, or what is another spelling of something in the stubs.
IMPLIED = {"__doc__", "__module__", "__slots__", "__reduce__", "__repr__", "__ror__", "__dict__", "__weakref__", "__firstlineno__",
           "__static_attributes__", "_entries", "_scan"}


class Stubs(unittest.TestCase):
    def members_of(self, name):
        classes = [kind for kind in getattr(tamis, name).__mro__ if kind.__module__.startswith("tamis")]
        return {member for kind in classes for member in vars(kind)} - IMPLIED

    def test_they_say_what_there_is(self):
        tree = ast.parse((pathlib.Path(tamis.__file__).parent / "__init__.pyi").read_text())
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(classes) | functions | {"__version__"}, set(tamis.__all__))
        for name in ("Filter", "Remote", "Store", "Strings"):
            with self.subTest(of=name):
                stubs = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
                self.assertEqual(stubs, self.members_of(name))

    def test_they_come_along(self):
        self.assertTrue((pathlib.Path(tamis.__file__).parent / "py.typed").exists())


@unittest.skipIf(shutil.which("cmake") is None, "needs CMake")
class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_python(self, *arguments, **options):
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_it_is_built_and_works_alone(self):
        if subprocess.run([sys.executable, "-c", "import build, wheel"], capture_output=True).returncode != 0:
            self.skipTest("needs the modules build and wheel")
        self.run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", self.folder, "-C", f"build-dir={os.environ['TAMIS_BUILD']}", PACKAGE)
        wheel = next(self.folder.glob("tamis-*-cp311-abi3-linux_*.whl"))
        self.run_python("-m", "wheel", "unpack", "-d", self.folder / "unpacked", wheel)  # compares with the checksums inside
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        info = f"tamis-{tamis.__version__}.dist-info"
        self.assertEqual(names, {"tamis/__init__.py", "tamis/__init__.pyi", "tamis/py.typed", "tamis/_tamis.abi3.so", f"{info}/METADATA",
                                 f"{info}/WHEEL", f"{info}/RECORD", f"{info}/LICENSE", f"{info}/THIRD_PARTY.md"})
        site = next((self.folder / "unpacked").iterdir())
        needed = subprocess.run(["readelf", "-d", site / "tamis" / "_tamis.abi3.so"], check=True, capture_output=True, text=True).stdout
        for library in ("libtamis", "libstdc++", "libpython"):
            self.assertNotIn(library, needed)
        self.assertNotIn("RUNPATH", needed)
        program = """
import importlib.metadata, tamis
f = tamis.Filter(capacity=1000); f.update(['a', 5]); assert 'a' in f and 5 in f and 'b' not in f
assert tamis.Filter.from_bytes(f.to_bytes()).to_bytes() == f.to_bytes()
assert importlib.metadata.version('tamis') == tamis.__version__, importlib.metadata.version('tamis')
try:
    tamis.Store
except AttributeError as error:
    print(error)
print(tamis.__file__)
"""
        lines = self.run_python("-X", "dev", "-c", program, env={**os.environ, "PYTHONPATH": str(site)}).splitlines()
        self.assertEqual(lines, ["tamis.Store: this tamis was built without RocksDB", str(site / "tamis" / "__init__.py")])


if __name__ == "__main__":
    unittest.main()
