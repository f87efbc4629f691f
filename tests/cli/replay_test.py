"""The main job: what filters would have cost on a log of queries."""

import collections
import json
import random
import unittest

from tool import ToolTest, lines

FIELDS = [
    "filter", "members", "queries", "negatives", "distinct_negatives", "false_positives", "first_time_false_positives",
    "repeated_false_positives", "false_negatives", "store_reads", "store_reads_avoided", "adaptations", "bits_per_key",
    "slow_bits_per_key", "fpr", "seconds", "queries_per_second", "fpr_over_time",
]  # fmt: skip


class Replay(ToolTest):
    def test_counts_agree_with_check(self):
        """The same members and queries, counted here from the answers of `tamis check`."""
        chance = random.Random(5)
        members = [str(i) for i in range(2000)]
        queries = [str(int(20000 * chance.random() ** 3)) for _ in range(30000)]
        self.write("members", "\n".join(members + members[:100]) + "\n")  # some twice
        self.write("queries", "\n".join(queries) + "\n")
        for result in self.json("replay", "--members", "members", "--queries", "queries", "--fpr", "0.05", "--filter", "bloom,counting-bloom"):
            self.assertEqual(list(result), FIELDS)
            self.create(result["filter"], result["filter"], "2000", "0.05")
            self.ok("add", result["filter"], stdin="\n".join(members))
            maybe = self.ok("check", result["filter"], "queries").split()
            negatives = [q for q in queries if int(q) >= 2000]
            mistakes = collections.Counter(q for q in maybe if int(q) >= 2000)
            expected = {
                "members": 2000, "queries": 30000, "negatives": len(negatives), "distinct_negatives": len(set(negatives)),
                "false_positives": sum(mistakes.values()), "first_time_false_positives": len(mistakes),
                "repeated_false_positives": sum(mistakes.values()) - len(mistakes), "false_negatives": 0, "store_reads": len(maybe),
                "store_reads_avoided": 30000 - len(maybe), "adaptations": 0, "slow_bits_per_key": 0,
                "fpr": sum(mistakes.values()) / len(negatives),
            }  # fmt: skip
            self.assertEqual({k: result[k] for k in expected}, expected)
            self.assertAlmostEqual(result["queries_per_second"] * result["seconds"], 30000, places=3)
            self.assertEqual(len(result["fpr_over_time"]), 10)

    def test_built_in_workload(self):
        args = ("replay", "--keys", "20k", "--queries-count", "300k", "--seed", "3")
        text = self.ok(*args, "--json", "result.json", env={"LC_ALL": "C.UTF-8"})
        results = json.loads(self.read("result.json"))
        self.assertEqual([r["filter"] for r in results], [f["filter"] for f in self.json("filters")])
        for r in results:
            self.assertEqual((r["members"], r["queries"], r["false_negatives"]), (20000, 300000, 0))
            self.assertAlmostEqual(r["negatives"] / 300000, 0.9, delta=0.01)
            self.assertEqual(r["false_positives"], r["first_time_false_positives"] + r["repeated_false_positives"])
            self.assertEqual(r["store_reads"] + r["store_reads_avoided"], 300000)
            self.assertEqual(r["store_reads"], r["false_positives"] + 300000 - r["negatives"])
            self.assertIn(f"{r['repeated_false_positives']:,}", text)
        worst = max(results, key=lambda r: r["false_positives"])
        words = " ".join(text.split())
        self.assertIn(f"{worst['filter']} asked the store {worst['false_positives']:,} times in vain; ", words)
        repeats = 100 * worst["repeated_false_positives"] / worst["false_positives"]
        self.assertIn(f"; {repeats:.1f} % of that were repeats", words)
        again = self.json(*args)
        for a, b in zip(results, again):
            self.assertEqual({k: v for k, v in a.items() if "second" not in k}, {k: v for k, v in b.items() if "second" not in k})

    def test_members_only_log_has_nothing_to_avoid(self):
        self.write("m", lines(1, 100))
        (result,) = self.json("replay", "--members", "m", "--queries", "m", "--filter", "bloom")
        self.assertEqual((result["negatives"], result["fpr"], result["store_reads"]), (0, None, 100))
        self.assertIn("Every query asked for a member", self.ok("replay", "--members", "m", "--queries", "m"))

    def test_empty_files(self):
        self.write("m", "")
        self.write("q", lines(1, 10))
        for members, queries in (("m", "q"), ("q", "m"), ("m", "m")):
            self.ok("replay", "--members", members, "--queries", queries)
            self.json("replay", "--members", members, "--queries", queries)

    def test_queries_from_standard_input(self):
        self.write("m", lines(1, 100))
        (result,) = self.json("replay", "--members", "m", "--queries", "-", "--filter", "bloom", stdin=lines(1, 1000))
        self.assertEqual((result["queries"], result["negatives"]), (1000, 900))

    def test_options_and_sizes(self):
        small = ("replay", "--keys", "1000", "--queries-count", "1000")
        results = self.json(*small, "--bits-per-key", "16", "--filter", "bloom,bloom1", "--option", "word=64")
        for r in results:
            self.assertAlmostEqual(r["bits_per_key"], 16, delta=0.5)
        self.refused(*small, "--option", "nonsense=1", says="none of the filters has it")
        self.refused(*small, "--filter", "bloom,blum", says="unknown")
        self.refused(*small, "--filter", "bloom,bloom", says="given twice")
        self.refused(*small, "--fpr", "2", says="--fpr '2'")
        self.refused(*small, "--member-share", "1.1", says="from 0 to 1")
        self.refused("replay", "--keys", "0", says="--keys '0'")
        self.refused(*small, "--store", "paper", says="must be memory or rocksdb:DIR")
        self.refused("replay", "--members", "nowhere", "--queries", "nowhere", says="nowhere: cannot open")


if __name__ == "__main__":
    unittest.main()
