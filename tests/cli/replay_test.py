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
    "adapts", "range_scans", "false_positives_by_seed", "vain_share_of_reads", "saved_seconds", "saved_money", "slowest_queries_per_second", "fastest_queries_per_second",
    "inserts", "erases", "refused_inserts", "ignored_erases", "peak_bits_per_key", "keys_over_time", "bits_per_key_over_time",
    "most_taken_bits_per_key", "changeable", "luck",
]  # fmt: skip


class Replay(ToolTest):
    def test_counts_agree_with_check(self):
        """The same members and queries, counted here from the answers of `tamis check`."""
        chance = random.Random(5)
        members = [str(i) for i in range(2000)]
        queries = [str(int(20000 * chance.random() ** 3)) for _ in range(30000)]
        self.write("members", "\n".join(members + members[:100]) + "\n")  # some twice
        self.write("queries", "\n".join(queries) + "\n")
        for result in self.json("replay", "--members", "members", "--queries", "queries", "--fpr", "0.05", "--compare", "rate", "--filter",
                                "bloom,counting-bloom"):
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
        args = ("replay", "--keys", "20k", "--queries-count", "300k", "--seed", "3", "--filter", "all", "--compare", "rate")
        text = self.ok(*args, "--json", "result.json", env={"LC_ALL": "C.UTF-8"})
        results = json.loads(self.read("result.json"))
        self.assertEqual([r["filter"] for r in results], ["none"] + [f["filter"] for f in self.json("filters")])
        for r in results:
            self.assertEqual((r["members"], r["queries"], r["false_negatives"]), (20000, 300000, 0))
            self.assertAlmostEqual(r["negatives"] / 300000, 0.9, delta=0.01)
            self.assertEqual(r["false_positives"], r["first_time_false_positives"] + r["repeated_false_positives"])
            self.assertEqual(r["store_reads"] + r["store_reads_avoided"], 300000)
            self.assertEqual(r["store_reads"], r["false_positives"] + 300000 - r["negatives"])
            self.assertIn(f"{r['repeated_false_positives']:,}", text)
        again = self.json(*args)
        for a, b in zip(results, again):
            self.assertEqual({k: v for k, v in a.items() if "second" not in k}, {k: v for k, v in b.items() if "second" not in k})

    def test_equal_memory_is_the_default(self):
        """All have what the first needs for the rate; a filter that cannot be had in it is named and left out."""
        small = ("replay", "--keys", "50k", "--queries-count", "100k")
        rows = self.json(*small)
        self.assertLessEqual(len(rows), 12)
        names = [r["filter"] for r in rows]
        self.assertEqual(names[:2], ["none", "bloom"])
        self.assertTrue({"rsqf+mistakes", "taf", "acf-cuckooing"} <= set(names), names)
        self.assertEqual(rows[0]["store_reads"], 100000)
        self.assertEqual(rows[0]["false_positives"], rows[0]["negatives"])
        budget = rows[1]["bits_per_key"]
        self.assertAlmostEqual(budget, 9.59, delta=0.02)  # log2(1/0.01) / ln 2
        for row in rows[1:]:
            if not row["adapts"]:
                self.assertLessEqual(row["bits_per_key"], 1.03 * budget, row["filter"])
        text = self.ok(*small, "--bits-per-key", "3", "--filter", "bloom,cuckoo")
        self.assertIn("Left out: cuckoo: ", text)
        self.assertEqual([r["filter"] for r in self.json(*small, "--bits-per-key", "3", "--filter", "bloom,cuckoo")], ["bloom"])
        self.refused(*small, "--bits-per-key", "3", "--filter", "cuckoo", says="tamis: cuckoo: ")
        self.refused(*small, "--compare", "speed", says="--compare 'speed': must be memory or rate")

    def test_a_list_of_mistakes_is_paid_from_the_same_memory(self):
        """A few absent keys, asked for over and over: the list ends that, and a sceptic finds its bits in the column."""
        chance = random.Random(8)
        self.write("m", lines(1, 5000))
        self.write("q", "".join(f"{10000 + chance.randrange(400)}\n" for _ in range(60000)))
        plain, listed = self.json("replay", "--members", "m", "--queries", "q", "--bits-per-key", "9", "--filter", "rsqf,rsqf+mistakes")
        self.assertEqual((plain["adapts"], listed["adapts"], listed["range_scans"]), (False, True, 0))
        self.assertLessEqual(listed["bits_per_key"], 9 * 1.02 + 1024 / 5000)
        self.assertLess(listed["repeated_false_positives"], 0.2 * plain["repeated_false_positives"])

    def test_rivals_that_tamis_does_not_have(self):
        """A static set of 2^-w, and a cache of mistakes: paid from the same memory, and named as what they are."""
        chance = random.Random(21)
        self.write("m", lines(1, 20000))
        self.write("q", "".join(f"x{int(40000 * chance.random() ** 4)}\n" for _ in range(100000)))
        args = ("replay", "--members", "m", "--queries", "q", "--bits-per-key", "10", "--filter")
        fuse, cached, rsqf, lru = self.json(*args, "fuse-model,fuse-model+lru,rsqf,rsqf+lru")
        self.assertEqual([row["changeable"] for row in (fuse, cached, rsqf, lru)], [False, False, True, True])
        self.assertEqual([row["adapts"] for row in (fuse, cached, rsqf, lru)], [False, True, False, True])
        self.assertIsNone(fuse["queries_per_second"])
        self.assertIsNotNone(lru["queries_per_second"])
        for row in (fuse, cached, rsqf, lru):
            self.assertLessEqual(row["bits_per_key"], 10 * 1.02 + 1024 / 20000, row["filter"])
            self.assertEqual((row["false_negatives"], row["store_reads"]), (0, row["false_positives"]))
        self.assertAlmostEqual(fuse["bits_per_key"], 8 * 1.14, places=3)
        # 8 bits of fingerprint: each different key is wrong with a chance of 1/256.
        expected = fuse["distinct_negatives"] / 256
        self.assertAlmostEqual(fuse["first_time_false_positives"], expected, delta=6 * expected**0.5)
        self.assertLess(lru["repeated_false_positives"], 0.7 * rsqf["repeated_false_positives"])
        self.assertLess(cached["false_positives"], fuse["false_positives"])
        text = " ".join(self.ok(*args, "bloom,rsqf,fuse-model").split())
        self.assertIn("Where keys never come or go, a static set does better still: fuse-model (a model, not in tamis) spares", text)
        self.assertIn("fuse-model is a model of a binary fuse filter", text)
        (only,) = self.json("replay", "--members", "m", "--queries", "q", "--compare", "rate", "--fpr", "0.01", "--filter", "fuse-model")
        self.assertAlmostEqual(only["bits_per_key"], 7 * 1.14, places=3)
        self.write("log", "+a\n?b\n")
        self.assertIn("fuse-model: is for members that do not change", " ".join(self.ok("replay", "--log", "log", "--filter", "bloom,fuse-model,rsqf+lru").split()))
        self.refused(*args, "taf+lru", says="--filter 'taf+lru': taf adapts")
        self.refused(*args, "blum+lru", says="--filter 'blum+lru': ")

    def test_costs_are_in_the_users_terms(self):
        self.write("m", lines(1, 1000))
        self.write("q", lines(500, 20000))
        args = ("replay", "--members", "m", "--queries", "q", "--filter", "none,bloom,taf")
        nothing, bloom, taf = self.json(*args, "--read-us", "2000", "--read-price", "3")
        self.assertEqual((nothing["saved_seconds"], nothing["saved_money"]), (0, 0))
        self.assertAlmostEqual(bloom["saved_seconds"], bloom["store_reads_avoided"] * 0.002 - bloom["seconds"])
        self.assertAlmostEqual(bloom["saved_money"], bloom["store_reads_avoided"] * 3 / 1e6)
        self.assertGreaterEqual(taf["range_scans"], taf["adaptations"])
        self.assertGreater(taf["range_scans"], 0)
        self.assertAlmostEqual(taf["saved_money"], (taf["store_reads_avoided"] - taf["range_scans"]) * 3 / 1e6)
        self.assertAlmostEqual(bloom["vain_share_of_reads"], bloom["false_positives"] / bloom["store_reads"])
        text = " ".join(self.ok(*args).split())
        self.assertIn("takes 100 us (an assumption: --read-us says better)", text)
        self.assertIn(f"a range scan for each mistake, is what these need to adapt: taf ({taf['range_scans']:,}).", text)
        self.assertIsNone(self.json(*args)[0]["saved_money"])
        self.refused(*args, "--read-us", "0", says="--read-us '0'")
        self.refused(*args, "--read-price", "x", says="--read-price 'x'")

    def test_seeds_show_luck(self):
        """One absent key in a hundred asks for half of the log: whether a plain filter is wrong about it is luck."""
        chance = random.Random(11)
        self.write("m", lines(1, 3000))
        self.write("q", "".join(f"x{chance.randrange(20) if chance.random() < 0.5 else chance.randrange(2000)}\n" for _ in range(40000)))
        args = ("replay", "--members", "m", "--queries", "q", "--filter", "bloom,taf", "--fpr", "0.05")
        alone = self.json(*args, "--seeds", "1")
        self.assertEqual([len(row["false_positives_by_seed"]) for row in self.json(*args)], [3, 3])
        bloom, taf = self.json(*args, "--seeds", "8")
        for one, row in zip(alone, (bloom, taf)):
            self.assertEqual(one["false_positives_by_seed"], [one["false_positives"]])
            self.assertEqual(row["false_positives"], one["false_positives"])
            self.assertEqual(len(row["false_positives_by_seed"]), 8)
            self.assertEqual(row["false_positives_by_seed"][0], row["false_positives"])
        spread = lambda row: max(row["false_positives_by_seed"]) - min(row["false_positives_by_seed"])
        self.assertGreater(spread(bloom), 4 * spread(taf))
        # Every key is a mistake or not, with all its queries: what that makes of the count, in its mean.
        counts = collections.Counter(self.read("q").split()).values()
        rate = 0.05
        self.assertAlmostEqual(bloom["luck"], (sum(n * n for n in counts) * (1 - rate) / rate) ** 0.5 / 40000, delta=0.1 * bloom["luck"])
        self.assertIsNone(taf["luck"])
        self.assertIn("; only one was tried: see --seeds", " ".join(self.ok(*args, "--seeds", "1").split()))
        text = " ".join(self.ok(*args, "--seeds", "8").split())
        ordered = sorted(bloom["false_positives_by_seed"])
        self.assertIn(f"bloom {ordered[0]:,} {ordered[4]:,} {ordered[-1]:,}", text)
        self.refused(*args, "--seeds", "0", says="--seeds '0'")
        self.refused(*args, "--seeds", "2", "--store", "rocksdb:s", says="needs --store memory")

    def test_the_first_sentence_says_what_is_worth_it(self):
        self.write("m", lines(1, 20000))
        chance = random.Random(9)
        hot = "".join(f"x{chance.randrange(3000)}\n" for _ in range(100000))
        new = "".join(f"y{i}\n" for i in range(100000))
        members = lines(1, 20000) * 5
        rows = ("--filter", "bloom,rsqf,rsqf+mistakes,taf", "--bits-per-key", "8")
        for queries, says in (
            (hot, "Adapting is worth it here: taf spares the store "),
            (new, "A plain filter will do: "),
            (members + new[:600], "No filter matters here: only "),
            (members, "No filter matters here: every query asked for a member"),
            ("", "The log is empty."),
        ):
            self.write("q", queries)
            self.assertTrue(self.ok("replay", "--members", "m", "--queries", "q", *rows).startswith(says), says)
        self.write("q", hot)
        text = self.ok("replay", "--members", "m", "--queries", "q", "--filter", "bloom,rsqf,rsqf+mistakes", "--bits-per-key", "8")
        self.assertTrue(text.startswith("A memory of mistakes is worth it here: rsqf+mistakes spares the store "), text)
        # What is said of the work is what was counted, over all seeds.
        by = {row["filter"]: row["false_positives_by_seed"] for row in
              self.json("replay", "--members", "m", "--queries", "q", "--filter", "bloom,rsqf,rsqf+mistakes", "--bits-per-key", "8")}
        mean = {name: round(sum(counts) / len(counts)) for name, counts in by.items()}
        best = min(("bloom", "rsqf"), key=lambda name: sum(by[name]))
        self.assertIn(f"{best} read the store in vain {mean[best]:,} times, rsqf+mistakes {mean['rsqf+mistakes']:,} times, on average over 3 hash seeds.",
                      " ".join(text.split()))

    def test_the_page_says_what_was_measured(self):
        """Captions are computed; every figure of the screen is on it; on a narrow screen each cell has its title."""
        args = ("replay", "--keys", "20k", "--queries-count", "200k", "--filter", "none,bloom,rsqf+mistakes,taf", "--seeds", "3", "--read-price", "2")
        page = self.ok(*args, "--html", "-")
        rows = {row["filter"]: row for row in self.json(*args)}
        for row in rows.values():
            for field in ("first_time_false_positives", "repeated_false_positives", "store_reads_avoided", "range_scans"):
                self.assertRegex(page, rf'<td data-title="[^"]+">{row[field]:,}<', (row["filter"], field))
            self.assertIn(f'data-title="money saved">{row["saved_money"]:.2f}<', page)
        bloom = rows["bloom"]
        # Three digits, as on the screen: 91.9 %.
        share = 100 * bloom["repeated_false_positives"] / bloom["false_positives"]
        self.assertIn(f"1 static filter: {share:.1f} % of the reads in vain were repeats", page)
        self.assertIn("Luck: reads in vain under 3 hash seeds", page)
        self.assertIn(f"{bloom['bits_per_key']:.1f} bits per key", page)
        new = self.write("new", "".join(f"y{i}\n" for i in range(5000)))
        self.write("m", lines(1, 2000))
        page = self.ok("replay", "--members", "m", "--queries", new, "--filter", "bloom", "--html", "-")
        self.assertIn("1 static filter: 0 % of the reads in vain were repeats", page)

    def test_members_only_log_has_nothing_to_avoid(self):
        self.write("m", lines(1, 100))
        (result,) = self.json("replay", "--members", "m", "--queries", "m", "--filter", "bloom")
        self.assertEqual((result["negatives"], result["fpr"], result["store_reads"]), (0, None, 100))
        self.assertIn("every query asked for a member", self.ok("replay", "--members", "m", "--queries", "m"))

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
