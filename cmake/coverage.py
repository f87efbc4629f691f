"""coverage.py ROOT BUILD: lines and branches that the tests of a coverage build have run, per folder, from gcovr. Branches that only an
exception takes are left out: every call that may throw has one."""

import collections
import json
import os
import subprocess
import sys

FOLDERS = ("include", "src", "readers", "lab", "apps", "integrations")


def summary(root, build):
    command = ["gcovr", "--root", root, "--object-directory", build, "--exclude-throw-branches", "--gcov-ignore-parse-errors", "-j", str(os.cpu_count()),
               "--json-summary", "-"]
    for folder in FOLDERS:
        command += ["--filter", os.path.join(root, folder, "")]
    return json.loads(subprocess.run([*command, build], check=True, capture_output=True, text=True).stdout)


def folder_of(name):
    """Rooms of the library apart: include/tamis/detail/cuckoo, include/tamis/filters, src/guard."""
    parts = os.path.dirname(name).split("/")
    return "/".join(parts[:4])


def rows(files):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        numbers = [file["line_covered"], file["line_total"], file["branch_covered"], file["branch_total"]]
        for name in (folder_of(file["filename"]), file["filename"].split("/")[0] + "/", "all"):
            sums[name] = [a + b for a, b in zip(sums[name], numbers)]
    whole = sorted(name for name in sums if name.endswith("/"))
    return [(name, *sums[name]) for name in sorted(set(sums) - set(whole) - {"all"}) + whole + ["all"]]


def share(covered, total):
    return f"{100 * covered / total:5.1f} %" if total else "      -"


def main(root, build):
    print(f"{'folder':<36} {'lines':>8} {'covered':>8} {'branches':>9} {'covered':>8}")
    for name, lines, all_lines, branches, all_branches in rows(summary(root, build)["files"]):
        print(f"{name:<36} {all_lines:>8} {share(lines, all_lines):>8} {all_branches:>9} {share(branches, all_branches):>8}")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]))
