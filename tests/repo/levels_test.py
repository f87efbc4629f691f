"""No code of a higher CPU level can be linked into code that runs everywhere: the joined object of a level exports its entry functions
and nothing else, and the rest of the library has no AVX instruction in it."""

import re
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1)


def members():
    listed = subprocess.run(["nm", "--format=posix", LIBRARY], check=True, capture_output=True, text=True).stdout
    member, symbols = None, {}
    for line in listed.splitlines():
        if line.endswith(":"):
            member = re.search(r"\[(.*)\]:$", line).group(1)
            symbols[member] = []
        elif line:
            name, kind = line.split()[:2]
            symbols[member].append((name, kind))
    return symbols


class Levels(unittest.TestCase):
    def test_a_level_exports_only_its_entries(self):
        joined = {member: names for member, names in members().items() if member == "tamis_avx2.o"}
        self.assertEqual(len(joined), 1, "the AVX2 level is not in the library")
        defined = [name for name, kind in joined["tamis_avx2.o"] if kind.isupper() and kind != "U" or kind in "uvw"]
        foreign = [name for name in defined if not name.startswith("tamis_entry_avx2_")]
        # The weak undefined references of the run-time (w) define nothing.
        foreign = [name for name in foreign if (name, "w") not in joined["tamis_avx2.o"]]
        self.assertEqual(foreign, [])
        self.assertGreater(len(defined), 2)

    def test_the_rest_uses_no_avx(self):
        shown = subprocess.run(["objdump", "-d", "--no-show-raw-insn", LIBRARY], check=True, capture_output=True, text=True).stdout
        # tzcnt is left out: it is an old processor's `rep bsf`, which compilers use for numbers that are not zero.
        member, offenders, seen_avx = None, {}, 0
        for line in shown.splitlines():
            if ": " in line and "file format" in line:
                member = line.split(":")[0]
            elif re.search(r"%[yz]mm|\t(pdep|pext|mulx|shlx|shrx|sarx|lzcnt|andn|blsr|v[a-z0-9]+) ", line):
                if member == "tamis_avx2.o":
                    seen_avx += 1
                else:
                    offenders.setdefault(member, line.strip())
        self.assertGreater(seen_avx, 10, "the AVX2 level does not use AVX2: this test looks at the wrong thing")
        self.assertEqual(offenders, {})


if __name__ == "__main__":
    unittest.main()
