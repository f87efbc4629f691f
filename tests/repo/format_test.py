"""The code is formatted, and passes clang-tidy, as .clang-format and .clang-tidy say. Tidy looks at what is compiled into the library."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
TIDY = pathlib.Path(sys.argv.pop(1)).resolve() / "tidy"


def sources():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.cpp", "*.hpp"], check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split()]


def compiled_library_files():
    subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(TIDY), "-DCMAKE_BUILD_TYPE=Release", "-DTAMIS_TOOLS=ON",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], check=True, capture_output=True)
    commands = json.loads((TIDY / "compile_commands.json").read_text())
    flags = {entry["file"]: shlex.split(entry["command"])[1:] for entry in commands}
    # Files share most of their headers: tidy reads those once for each joined file, as the build's compiler does.
    folders = {"models": [f for f in sorted(flags) if "/models/portable_" in f]}
    for file in sorted(f for f in flags if f.startswith(str(ROOT / "src"))):
        folders.setdefault(pathlib.Path(file).parent.name, []).append(file)
    jobs = []
    for folder, files in folders.items():
        size = (len(files) + 1) // 2 if folder == "models" else 6
        for first in range(0, len(files), size):
            joined = TIDY / f"{folder}_{first}.cpp"
            joined.write_text("".join(f'#include "{file}"  // NOLINT\n' for file in files[first:first + size]))
            jobs.append((str(joined), flags[files[first]]))
    return jobs


def tidy(job):
    file, flags = job
    kept, skip = [], False
    for flag in flags:  # without the compiler's own input, output and precompiled header
        if not skip and flag not in ("-o", "-c", "-include") and not flag.endswith((".cpp", ".o", "-Winvalid-pch")):
            kept.append(flag)
        skip = flag in ("-o", "-c", "-include")
    # Following every path through all filters takes more than half of the time of all tests: TAMIS_TIDY=full does it.
    short = ["--checks=-clang-analyzer-*"] if "models_" in file and os.environ.get("TAMIS_TIDY") != "full" else []
    done = subprocess.run(["clang-tidy", "--quiet", *short, file, "--", *kept], cwd=TIDY, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{file}\n{done.stdout}\n"


class Format(unittest.TestCase):
    def test_clang_format(self):
        # Compares the output: --dry-run of clang-format 14 complains about `namespace tamis::inline` and then changes nothing.
        for source in sources():
            formatted = subprocess.run(["clang-format", str(source)], check=True, capture_output=True, text=True).stdout
            with self.subTest(source=str(source)):
                self.assertEqual(source.read_text(), formatted, "run clang-format -i on it")

    def test_clang_tidy(self):
        jobs = compiled_library_files()
        self.assertGreater(len(jobs), 8)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            complaints = "".join(pool.map(tidy, jobs))
        # A header's fault shows up in every file that includes it.
        faults = sorted({line for line in complaints.splitlines() if ": error: " in line})
        self.assertEqual(complaints, "", "\n".join(faults) or complaints[:6000])


if __name__ == "__main__":
    unittest.main()
