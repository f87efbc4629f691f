"""What each command does, and the JSON it promises."""

import json
import os
import shutil
import unittest

from tool import ToolTest, lines

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "v2")
INFO = ["filter", "keys", "capacity", "load", "bits_per_key", "expected_fpr", "hash", "format_version", "options", "known_mistakes"]


class Commands(ToolTest):
    def test_no_added_key_is_ever_missing(self):
        for filter in [f["filter"] for f in self.json("filters")]:
            self.create(filter, filter, "10k", "0.01")
            self.assertEqual(self.json("add", filter, stdin=lines(1, 10000)), {"added": 10000, "refused": 0})
            self.assertEqual(self.json("check", filter, stdin=lines(1, 10000)), {"maybe": 10000, "no": 0, "verified": True})
            others = self.json("check", filter, stdin=lines(10001, 20000))
            self.assertEqual(others["maybe"] + others["no"], 10000)
            self.assertLess(others["maybe"], 300, filter)

    def test_filters_lists_paper_abilities_and_options(self):
        listed = self.json("filters")
        self.assertEqual(list(listed[0]), ["filter", "summary", "paper", "can", "options"])
        counting = next(f for f in listed if f["filter"] == "counting-bloom")
        self.assertTrue({"delete", "count", "merge"} <= set(counting["can"]))
        text = self.ok("filters")
        for f in listed:
            self.assertIn(f["filter"], text)
        self.assertIn("CACM 1970", text)
        self.assertEqual([f["filter"] for f in self.json("filters", "bloom1,bloom")], ["bloom1", "bloom"])

    def test_info_fields(self):
        self.create("f", "bloom1", "1000", "0.01", "--option", "word=256", "--seed", "beef")
        empty = self.json("info", "f")
        self.assertEqual(list(empty), INFO)
        self.assertIsNone(empty["bits_per_key"])
        self.assertEqual(empty["expected_fpr"], 0)
        self.ok("add", "f", stdin=lines(1, 500))
        info = self.json("info", "f")
        self.assertEqual(list(info), INFO)
        self.assertEqual((info["filter"], info["keys"], info["capacity"], info["load"]), ("bloom1", 500, 1000, 0.5))
        self.assertEqual((info["hash"], info["format_version"], info["options"]["word"]), ("fast", 2, "256"))
        self.assertTrue(0 < info["expected_fpr"] < 0.01)
        text = self.ok("info", "f")
        for part in ["checksums        correct", "fast, seed beef", "50.0 %", "KiB"]:
            self.assertIn(part, text)

    def test_info_says_what_fixes_take(self):
        for filter, has_budget in [("evergreen", False), ("evergreen-fixed", True)]:
            self.create(filter, filter, "10k", "0.01")
            self.assertEqual(self.json("info", filter)["fixes"], {"fixes": 0, "bits": 0, "over_budget": 0 if has_budget else None})
            shutil.copy(os.path.join(GOLDEN, filter + ".tamis"), self.path("used"))
            info = self.json("info", "used")
            seen = info["fixes"]
            self.assertGreater(seen["fixes"], 0, filter)
            # A slot or a little more for each, of at least as many bits as a remainder has.
            self.assertGreaterEqual(seen["bits"], seen["fixes"] * int(info["options"]["remainder"]), filter)
            self.assertLess(seen["bits"], info["bits_per_key"] * info["keys"] / 2, filter)
            text = self.ok("info", "used")
            self.assertRegex(text, rf"(?m)^fixes +{seen['fixes']} entries lengthened, [0-9.]+ [A-Za-z]+ of the memory \([0-9.]+ %\)", filter)
            self.assertEqual("over the budget" in text, has_budget)
        self.create("other", "rsqf", "10k", "0.01")
        self.assertNotIn("fixes", self.json("info", "other"))

    def test_create_and_merge_tell_what_info_tells(self):
        self.assertEqual(list(self.json("create", "f", "--filter", "bloom", "--capacity", "10", "--bits-per-key", "8")), INFO)
        self.assertEqual(list(self.json("merge", "g", "f")), INFO)

    def test_a_filter_is_evergreen_unless_another_is_named(self):
        self.assertEqual(self.json("create", "f", "--capacity", "1000", "--fpr", "0.01")["filter"], "evergreen")

    def test_numbers(self):
        for text, value in [("1000000", 10**6), ("1e6", 10**6), ("1M", 10**6), ("1000k", 10**6), ("1.5k", 1500), ("2e3", 2000)]:
            self.assertEqual(self.json("create", "f", "--force", "--filter", "bloom", "--capacity", text, "--fpr", "0.1")["capacity"], value)

    def test_small_rates_are_not_shown_as_zero(self):
        self.create("f", "bloom", "1000", "1e-9")
        self.ok("add", "f", stdin=lines(1, 1000))
        self.assertRegex(self.ok("info", "f"), r"expected rate +[1-9](\.\d)?e-(09|10) false positives")
        text = self.ok("advise", "--capacity", "1000", "--fpr", "1e-9")
        self.assertIn("at most 1e-09 of the queries", " ".join(text.split()))
        row = next(line for line in text.splitlines() if line.startswith("bloom "))
        self.assertRegex(row, r"^bloom +0\.0054 +43\.1\d +0 +\d\.\de-10 +0\.00\d+ +0 ")  # MB, bits, slow bits, rate of new keys, per million: first-time, repeated
        small = self.ok("advise", "--capacity", "10", "--fpr", "0.01")
        self.assertRegex(next(line for line in small.splitlines() if line.startswith("bloom ")), r"^bloom +1\.\de-05 ")  # MB
        text = self.ok("bench", "--filter", "bloom", "--keys", "1000", "--repeats", "1", "--fpr", "1e-9")
        self.assertRegex(text, r"(?m)^bloom .* 0 % +[1-9](\.\d)?e-(09|10)$")  # measured and expected

    def test_bench_of_threads_shows_every_way_and_the_tails_of_filters_that_grow(self):
        args = ("bench", "--filter", "bloom1,infini", "--keys", "2000", "--repeats", "1", "--threads", "3")
        text = self.ok(*args, env={"COLUMNS": "200"})
        for way in ("nothing", "shared_mutex", "concurrent_filter"):
            for threads in (1, 2, 3):
                self.assertRegex(text, rf"(?m)^bloom1 +{way} +{threads} ")
        self.assertRegex(text, r"(?m)^infini +concurrent_filter +[\d,]+( +\d+\.\d\d){5}$")
        self.assertIn("only the clock", text)
        self.assertRegex(text, r"(?m)^bloom1 +nothing +1 +\d+\.\d \(1\.00\)")
        self.ok(*args, "--json", self.path("out"))
        with open(self.path("out"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(len(found["results"]), 2 * 3 * 3)
        self.assertEqual({row["filter"] for row in found["tails"]}, {"infini"})
        self.refused(*args, "--baseline", "bloom1", says="--baseline")

    def test_measured_filters_are_named_if_they_cannot_be_made(self):
        self.refused("bench", "--filter", "bloom,cuckoo", "--keys", "10", "--fpr", "1e-15", says="tamis: cuckoo: fpr 1e-15: ")

    def test_check_prints_keys_in_order(self):
        self.create()
        self.ok("add", "f", stdin="b\na\n")
        queries = "x1\na\nx2\nb\na\n"
        self.assertEqual(self.ok("check", "f", stdin=queries), "a\nb\na\n")
        self.assertEqual(self.ok("check", "-v", "f", stdin=queries), "x1\nx2\n")
        self.assertEqual(self.ok("check", "-c", "f", stdin=queries), "maybe 3\nno 2\n")

    def test_json_file_comes_beside_the_text(self):
        self.create()
        text = self.ok("add", "f", "--json", "result.json", stdin="a\nb\n")
        self.assertIn("added 2 keys", text)
        self.assertEqual(json.loads(self.read("result.json")), {"added": 2, "refused": 0})
        self.assertEqual(self.ok("check", "f", "--json", "result.json", "--force", stdin="a\n"), "a\n")
        self.assertEqual(json.loads(self.read("result.json")), {"maybe": 1, "no": 0, "verified": True})

    def test_remove(self):
        self.create("f", "counting-bloom")
        self.ok("add", "f", stdin=lines(1, 100))
        self.assertEqual(self.json("remove", "f", stdin=lines(1, 60)), {"removed": 60, "absent": 0})
        self.assertEqual(self.json("check", "f", stdin=lines(61, 100))["maybe"], 40)
        self.assertEqual(self.json("info", "f")["keys"], 40)
        self.assertEqual(self.json("remove", "f", stdin="never added\n"), {"removed": 0, "absent": 1})
        self.create("b", "bloom")
        self.refused("remove", "b", stdin="a\n", says="cannot delete; these can: counting-bloom")

    def test_check_unverified(self):
        self.create("f", "bloom1", "1000000")
        self.ok("add", "f", stdin=lines(1, 1000))
        answer = self.json("check", "f", "--unverified", stdin=lines(1, 1000))
        self.assertEqual(answer, {"maybe": 1000, "no": 0, "verified": False})
        damaged = bytearray(self.read("f"))
        damaged[len(damaged) // 2] ^= 1
        self.write("f", bytes(damaged))
        self.refused("check", "f", stdin="1\n", says="is wrong: the file is damaged")
        self.assertEqual(self.json("check", "f", "--unverified", stdin="1\n")["verified"], False)
        self.create("q", "rsqf", "1000000")
        self.assertEqual(self.json("check", "q", "--unverified", stdin="1\n"), {"maybe": 0, "no": 1, "verified": True})

    def test_fold(self):
        for filter in ("bloom", "bloom1"):
            self.ok("create", filter, "--filter", filter, "--capacity", "64k", "--bits-per-key", "16")
            self.ok("add", filter, stdin=lines(1, 1000))
            size = len(self.read(filter))
            folded = self.json("fold", filter, "--fpr", "0.01")
            self.assertGreater(folded["factor"], 1)
            self.assertLessEqual(folded["expected_fpr"], 0.01)
            self.assertLess(len(self.read(filter)), size / folded["factor"] + 200)
            self.assertEqual(self.json("check", filter, stdin=lines(1, 1000))["maybe"], 1000)
            before = self.sum(filter)
            self.assertIn("not folded", self.ok("fold", filter, "--fpr", "1e-9"))
            self.assertEqual(self.sum(filter), before)
        self.refused("fold", "bloom", "--fpr", "1", says="--fpr '1'")
        self.create("c", "cuckoo")
        self.refused("fold", "c", "--fpr", "0.1", says="c: cuckoo filters cannot be folded")

    def test_merge(self):
        for name, first in [("a", 1), ("b", 401)]:
            self.create(name)
            self.ok("add", name, stdin=lines(first, first + 399))
        sums = self.sum("a"), self.sum("b")
        self.ok("merge", "c", "a", "b")
        self.assertEqual(self.json("check", "c", stdin=lines(1, 800))["maybe"], 800)
        self.assertEqual((self.sum("a"), self.sum("b")), sums)
        self.refused("merge", "c", "a", "b", says="--force")
        self.ok("merge", "--force", "a", "a", "b")
        self.create("other", "bloom", "5000")
        self.refused("merge", "d", "a", "other", says="other: the two bloom filters have different shapes")
        self.create("kind", "bloom1")
        self.refused("merge", "d", "a", "kind", says="cannot be merged")
        self.create("seed", "bloom", "1000", "0.01", "--seed", "1")
        self.refused("merge", "d", "a", "seed", says="different hash")

    def test_beyond_capacity_a_note_tells_the_rate(self):
        self.create("f", "bloom", "100", "0.01")
        done = self.run_tool("add", "f", stdin=lines(1, 300))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"tamis: f: note: 300 keys in a filter made for 100; .* is now \d+\.\d+ %")

    def test_what_a_full_filter_refuses_is_counted_and_the_rest_kept(self):
        """Whether a filter refuses at all is its own affair: the counts and the exit code have to agree."""
        for filter in [f["filter"] for f in self.json("filters")]:
            self.create(filter, filter, "1000", "0.01")
            done = self.run_tool("add", filter, "--json", "-", stdin=lines(1, 20000))
            counts = json.loads(done.stdout)
            self.assertEqual(counts["added"] + counts["refused"], 20000, filter)
            self.assertGreaterEqual(counts["added"], 1000, filter)
            self.assertEqual(done.returncode, 1 if counts["refused"] else 0, done.stderr)
            if counts["refused"]:
                self.assertIn(f"tamis: {filter}: full: refused {counts['refused']:,} key", done.stderr.decode())
            self.assertEqual(self.json("info", filter)["keys"], counts["added"], filter)
            self.assertEqual(self.json("check", filter, stdin=lines(1, 1000))["maybe"], 1000, filter)

    def test_generate(self):
        first = self.ok("generate", "zipf", "--count", "100", "--seed", "7")
        self.assertEqual(len(first.splitlines()), 100)
        self.assertEqual(first, self.ok("generate", "zipf", "--count", "100", "--seed", "7"))
        self.assertNotEqual(first, self.ok("generate", "zipf", "--count", "100", "--seed", "8"))
        self.assertEqual(first.replace("\n", "\0"), self.ok("generate", "zipf", "--count", "100", "--seed", "7", "-0"))
        made = self.json("generate", "uniform", "--count", "1k", "--out", "q", "--members", "m", "--members-count", "500")
        self.assertEqual(made, {"workload": "uniform", "keys": 1000, "members": 500, "seed": 1})
        queries, members = set(self.read("q").split()), set(self.read("m").split())
        self.assertEqual((len(queries), len(members), queries & members), (1000, 500, set()))
        self.refused("generate", "uniform", "--count", "1", "--out", "q", says="exists already")
        self.refused("generate", "nonsense", says="firehose-activeset")
        self.refused("generate", "zipf", "--option", "s=-1", says="above 0")
        self.refused("generate", "zipf", "--count", "0", says="whole number")
        self.refused("generate", code=2, says="WORKLOAD")
        self.assertIn("Zipf", self.ok("generate", "--list"))

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^tamis \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
