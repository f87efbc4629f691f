"""No code of a higher CPU level can be linked into code that runs everywhere: the joined object of a level exports its entry functions
and nothing else, and the rest of the library has no AVX instruction in it."""

import re
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1)
LEVELS = ("avx2", "avx512")


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
        for level in LEVELS:
            symbols = members().get(f"tamis_{level}.o")
            self.assertIsNotNone(symbols, f"the level {level} is not in the library")
            defined = [name for name, kind in symbols if kind.isupper() and kind != "U" or kind in "uvw"]
            foreign = [name for name in defined if not name.startswith(f"tamis_entry_{level}_")]
            # The weak undefined references of the run-time (w) define nothing.
            foreign = [name for name in foreign if (name, "w") not in symbols]
            self.assertEqual(foreign, [])
            self.assertGreater(len(defined), 2)

    def test_the_rest_uses_no_avx(self):
        shown = subprocess.run(["objdump", "-d", "--no-show-raw-insn", LIBRARY], check=True, capture_output=True, text=True).stdout
        # tzcnt is left out: it is an old processor's `rep bsf`, which compilers use for numbers that are not zero.
        member, offenders, seen = None, {}, dict.fromkeys(LEVELS, 0)
        for line in shown.splitlines():
            if ": " in line and "file format" in line:
                member = line.split(":")[0]
            elif re.search(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])", line):
                if member == "tamis_avx512.o":
                    seen["avx512"] += 1
                else:
                    offenders.setdefault(member, line.strip())
            elif re.search(r"%ymm|\t(pdep|pext|mulx|shlx|shrx|sarx|lzcnt|andn|blsr|v[a-z0-9]+) ", line):
                if member == "tamis_avx2.o":
                    seen["avx2"] += 1
                elif member != "tamis_avx512.o":
                    offenders.setdefault(member, line.strip())
        for level in LEVELS:
            self.assertGreater(seen[level], 10, f"level {level} does not use its instructions: this test looks at the wrong thing")
        self.assertEqual(offenders, {})


if __name__ == "__main__":
    unittest.main()
