#!/usr/bin/env python3
"""same_bodies.py BEFORE AFTER: are the function bodies of two builds of libtamis.a the same?

Compares, per group of archive members, the multiset of function bodies: instructions with their operands, without names, addresses and
padding. It shows that a change which only moves or renames code has changed no code. Exit code 1 if something differs."""

import collections
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")
TARGET = re.compile(r"\b([0-9a-f]+) <[^>]*>")
PADDING = re.compile(r"^(nop|data16|cs nop|xchg\s+%ax,%ax)")


def group_of(member):
    """Models are compared as one group per CPU level, everything else as one: files may have been joined or renamed."""
    for level in ("avx512", "avx2"):
        if level in member:
            return level
    return "portable"


def normalised(start, instructions):
    out = []
    for text in instructions:
        text = re.sub(r"\s*#.*$", "", text)
        text = TARGET.sub(lambda m: f"@{int(m[1], 16) - start}" if text.startswith("j") else "@", text)
        text = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "@(%rip)", text)
        out.append(re.sub(r"\s+", " ", text).strip())
    while out and PADDING.match(out[-1]):
        out.pop()
    return tuple(out)


def bodies(library):
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], check=True, capture_output=True, text=True).stdout
    found = collections.defaultdict(collections.Counter)
    example = {}
    member, name, start, instructions = "", None, 0, []

    def close():
        if name is not None and instructions:
            body = normalised(start, instructions)
            found[group_of(member)][body] += 1
            example.setdefault(body, name)

    for line in listed.splitlines():
        if match := FUNCTION.match(line):
            close()
            name, start, instructions = match[1], int(line.split()[0], 16), []
        elif match := INSTRUCTION.match(line):
            instructions.append(match[2])
        elif "file format" in line:
            close()
            member, name = line.split(":")[0], None
    close()
    return found, example


def main():
    (before, names_before), (after, names_after) = bodies(sys.argv[1]), bodies(sys.argv[2])
    differs = False
    for group in sorted(set(before) | set(after)):
        gone, new = before[group] - after[group], after[group] - before[group]
        print(f"{group}: {sum(before[group].values())} bodies before, {sum(after[group].values())} after, "
              f"{sum(gone.values())} only before, {sum(new.values())} only after")
        for title, only, names in (("-", gone, names_before), ("+", new, names_after)):
            for body in sorted(only, key=len, reverse=True)[:int(sys.argv[3]) if len(sys.argv) > 3 else 12]:
                print(f"  {title} {len(body):5} instructions: {names[body]}")
        differs |= bool(gone or new)
    sys.exit(1 if differs else 0)


main()
