"""Lists of known mistakes at the command line: made, shown, kept by every command that rewrites a filter, and measured."""

import os
import shutil
import unittest

from tool import ToolTest, lines

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "v2")


class Mistakes(ToolTest):
    def info(self, name):
        return self.json("info", name)["known_mistakes"]

    def test_create_takes_a_number_bits_per_key_or_a_name(self):
        for name, args, least, most in [("number", ("bloom", "--option", "mistakes=500"), 500, 500),
                                        ("bits", ("bloom", "--option", "mistakes=1.5b"), 95, 105),  # 15,000 bits, 145 each
                                        ("name", ("rsqf+mistakes",), 156, 156),  # a 64th
                                        ("both", ("rsqf+mistakes", "--option", "mistakes=7"), 7, 7)]:
            made = self.json("create", name, "--capacity", "10k", "--fpr", "0.01", "--filter", *args)
            seen = made["known_mistakes"]
            self.assertTrue(least <= seen["entries"] <= most, (name, seen))
            self.assertEqual(seen["in_use"], 0)
            self.assertTrue(128 * seen["entries"] < seen["bits"] < 150 * seen["entries"] + 512, (name, seen))
            self.assertEqual(made["options"]["mistakes"], str(seen["entries"]))
            self.assertEqual(self.info(name), seen)
        self.create("none", "rsqf", "10k", "0.01", "--option", "mistakes=0")
        self.assertIsNone(self.info("none"))
        self.assertNotIn("known mistakes", self.ok("info", "none"))

    def test_bits_per_key_pay_for_the_list(self):
        whole = self.json("create", "a", "--filter", "bloom", "--capacity", "100k", "--bits-per-key", "10")
        paid = self.json("create", "b", "--filter", "bloom", "--capacity", "100k", "--bits-per-key", "10", "--option", "mistakes=1b")
        self.ok("add", "a", stdin="x\n"), self.ok("add", "b", stdin="x\n")
        bits = [self.json("info", name)["bits_per_key"] for name in "ab"]
        self.assertLess(abs(bits[1] - bits[0]), 1000)  # of a million
        self.assertEqual(whole["capacity"], paid["capacity"])

    def test_what_cannot_be_a_list_is_refused(self):
        for value, says in [("-1", "must be a whole number"), ("5e9", "must be a whole number"), ("4294967297", "must be a whole number"),
                            ("b", "must be a whole number"), ("0b", "must be a whole number"), ("", "must be a whole number"),
                            ("nanb", "must be a whole number"), ("0.0001b", "too little for one entry"), ("9b", "the list of")]:
            self.refused("create", "f", "--filter", "bloom", "--capacity", "1000", "--bits-per-key", "8", "--option", "mistakes=" + value, says=says)
            self.assertFalse(os.path.exists(self.path("f")), value)
        self.refused("create", "f", "--filter", "nothing+mistakes", "--capacity", "10", "--fpr", "0.1", says="nothing")
        self.refused("create", "f", "--filter", "bloom+mistakes+mistakes", "--capacity", "10", "--fpr", "0.1", says="bloom+mistakes")

    def test_info_shows_length_use_and_bits(self):
        for name, is_used in [("bloom+mistakes", True), ("taf+mistakes", False), ("acf-swapping+mistakes", False)]:
            shutil.copy(os.path.join(GOLDEN, name + ".tamis"), self.path(name))
            seen = self.info(name)
            self.assertTrue(0 <= seen["in_use"] <= seen["entries"], (name, seen))
            self.assertEqual(seen["in_use"] != 0, is_used, name)
            text = self.ok("info", name)
            self.assertRegex(text, rf"(?m)^known mistakes +{seen['in_use']} of {seen['entries']} entries in use, ", name)

    def test_commands_keep_the_list(self):
        shutil.copy(os.path.join(GOLDEN, "bloom+mistakes.tamis"), self.path("f"))
        before = self.info("f")
        self.ok("add", "f", stdin=lines(1, 10))
        self.assertEqual(self.info("f"), before)
        self.ok("merge", "g", "f", "f")
        self.assertEqual(self.info("g"), before)

    def test_added_keys_are_found_whatever_is_listed(self):
        for filter in ("bloom1+mistakes", "taf+mistakes", "infini+mistakes"):
            self.create(filter, filter, "10k", "0.01")
            self.ok("add", filter, stdin=lines(1, 10000))
            self.assertEqual(self.json("check", filter, stdin=lines(1, 10000))["maybe"], 10000)

    def test_bench_measures_a_full_list(self):
        args = ("bench", "--keys", "20k", "--repeats", "1", "--bits-per-key", "10")
        rows = self.json(*args, "--filter", "bloom1,bloom1+mistakes,taf", "--option", "mistakes=0.5b")["results"]
        self.assertEqual([r["filter"] for r in rows], ["bloom1", "bloom1+mistakes", "taf"])
        self.assertEqual([r["known_mistakes"] is None for r in rows], [True, False, True])
        seen = rows[1]["known_mistakes"]
        self.assertGreater(seen["entries"], 50)
        self.assertEqual(seen["in_use"], seen["entries"])
        self.assertNotIn("mistakes", rows[0]["options"])
        self.assertLess(abs(rows[1]["bits_per_key"] - rows[0]["bits_per_key"]), 0.3)
        self.assertIn("bloom1+mistakes", self.ok(*args, "--filter", "bloom1+mistakes"))
        base = self.json(*args, "--filter", "bloom1,bloom1+mistakes", "--baseline", "bloom1+mistakes")
        self.assertEqual(base["baseline"], "bloom1+mistakes")
        self.refused(*args, "--filter", "bloom1+mistakes,bloom1+mistakes", says="given twice")
        self.refused(*args, "--filter", "bloom1", "--option", "mistakes=5", says="none of the filters has it")


if __name__ == "__main__":
    unittest.main()
