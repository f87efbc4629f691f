"""Differences between saved filters: what the other side has becomes what it shall have, or stays as it was."""

import os
import unittest

from tool import ToolTest, lines

KINDS = ("bloom", "bloom1", "counting-bloom", "cuckoo", "rsqf", "taf", "infini", "chain-geometric")


class Difference(ToolTest):
    def two(self, filter="bloom1", keys=20000, fresh=100, capacity="20k"):
        self.create("old", filter, capacity, "0.01")
        self.ok("add", "old", stdin=lines(1, keys))
        self.write("new", self.read("old"))
        self.ok("add", "new", stdin=lines(keys + 1, keys + fresh))

    def patched(self, file, patch):
        return self.ok("patch", file, patch)

    def test_the_old_file_becomes_the_new_one(self):
        for filter in KINDS:
            self.two(filter, 19000)
            told = self.json("diff", "old", "new", "--out", "p")
            self.assertEqual(told, {"patch_bytes": len(self.read("p")), "file_bytes": len(self.read("new"))}, filter)
            self.assertLess(len(self.read("p")), len(self.read("new")) / 3, filter)
            self.assertIn("old: patched and verified", self.patched("old", "p"))
            self.assertEqual(self.read("old"), self.read("new"), filter)
            self.assertEqual(self.json("check", "old", stdin=lines(1, 19100))["maybe"], 19100)
            for name in ("old", "new", "p"):
                os.unlink(self.path(name))

    def test_checksums_are_enough(self):
        self.two("bloom", 1000, 1, "4000k")
        told = self.json("sums", "old", "--out", "s")
        self.assertEqual(told, {"sums_bytes": len(self.read("s")), "file_bytes": len(self.read("old"))})
        self.assertLess(len(self.read("s")), 1000)
        self.ok("diff", "s", "new", "--out", "p")
        self.assertLess(len(self.read("p")), 10 * 65536)  # the blocks of one key, and of the fields, of 77
        self.patched("old", "p")
        self.assertEqual(self.read("old"), self.read("new"))

    def test_filter_that_grew(self):
        self.two("chain-linear", 30000, 20000, "10k")
        self.ok("diff", "old", "new", "--out", "p")
        grown = len(self.read("new")) - len(self.read("old"))
        self.assertLess(len(self.read("p")), grown * 1.3)  # what did not move is not sent
        self.patched("old", "p")
        self.assertEqual(self.read("old"), self.read("new"))

    def test_patch_for_another_file_is_refused(self):
        self.two()
        self.ok("diff", "old", "new", "--out", "p")
        self.create("other", "bloom1", "20000", "0.01")
        before = self.sum("other")
        self.refused("patch", "other", "p", says="other: the patch is for another file: one with the checksum ")
        self.assertEqual(self.sum("other"), before)
        self.patched("old", "p")
        self.refused("patch", "old", "p", says="old: it is what the patch makes: the patch was applied already")
        self.assertEqual(self.read("old"), self.read("new"))

    def test_damaged_patch_changes_nothing(self):
        self.two()
        self.ok("diff", "old", "new", "--out", "p")
        patch = self.read("p")
        before = self.sum("old")
        for at in range(0, len(patch), 7):
            self.write("bad", patch[:at] + bytes([patch[at] ^ 4]) + patch[at + 1 :])
            self.refused("patch", "old", "bad", says="bad: ")
            self.assertEqual(self.sum("old"), before)
        self.write("bad", patch[:-1])
        self.refused("patch", "old", "bad", says="bad: it ends too early")
        self.assertEqual(self.sum("old"), before)

    def test_wrong_kinds_are_named(self):
        self.two()
        self.ok("diff", "old", "new", "--out", "p")
        self.ok("sums", "old", "--out", "s")
        self.refused("patch", "old", "new", says="new: it is not a patch, but holds 'bloom1'")
        self.refused("patch", "p", "p", says="p: it is no saved filter, but holds 'difference'")
        self.refused("diff", "p", "new", "--out", "x", says="p: it is no saved filter, but a patch")
        self.refused("diff", "old", "s", "--out", "x", says="s: it is no saved filter, but holds 'checksums'")
        self.refused("sums", "p", "--out", "x", says="p: it is no saved filter, but holds 'difference'")
        self.refused("info", "p", says="p: ")
        self.assertFalse(os.path.exists(self.path("x")))

    def test_patches_are_replaced_with_force_and_filters_never(self):
        self.two()
        self.ok("diff", "old", "new", "--out", "p")
        self.refused("diff", "old", "new", "--out", "p", says="p: exists already; --force replaces it")
        self.ok("diff", "old", "new", "--out", "p", "--force")
        self.ok("sums", "old", "--out", "p", "--force")
        self.write("mine", self.read("new"))
        self.refused("diff", "old", "new", "--out", "mine", "--force", says="mine: is a filter, which --out would replace")

    def test_patch_through_pipes(self):
        self.two()
        patch = self.run_tool("diff", "old", "new", "--out", "-").stdout
        self.write("p", patch)
        self.patched("old", "p")
        self.assertEqual(self.read("old"), self.read("new"))

    def test_read_only_file_stays(self):
        self.two()
        self.ok("diff", "old", "new", "--out", "p")
        os.chmod(self.path("old"), 0o444)
        before = self.sum("old")
        self.refused("patch", "old", "p", says="old: is read-only")
        self.assertEqual(self.sum("old"), before)


if __name__ == "__main__":
    unittest.main()
