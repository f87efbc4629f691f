"""Logs in which keys come and go, through `tamis replay`: counted here by a plain set, and compared."""

import random
import unittest

from tool import ToolTest, lines


def churn(seed, events, grow=0.15, shrink=0.05):
    """(op, key) of a store that grows, with questions for what is in and for others, some of them asked often."""
    chance = random.Random(seed)
    alive, made, all = [], 0, []
    for _ in range(events):
        dice = chance.random()
        if dice < grow:
            alive.append(f"k{made}")
            all.append(("+", alive[-1]))
            made += 1
        elif dice < grow + shrink and alive:
            i = chance.randrange(len(alive))
            alive[i], alive[-1] = alive[-1], alive[i]
            all.append(("-", alive.pop()))
        elif dice < 0.5 and alive:
            all.append(("?", chance.choice(alive)))
        else:
            all.append(("?", f"x{int(3000 * chance.random() ** 3)}"))
    return all


class ReplayLog(ToolTest):
    def write_log(self, events, name="log"):
        return self.write(name, "".join(op + key + "\n" for op, key in events))

    def test_counts_are_those_of_a_set(self):
        events = churn(1, 60000)
        self.write_log(events)
        stored, most, negatives = set(), 0, 0
        for op, key in events:
            if op == "+":
                stored.add(key)
            elif op == "-":
                stored.remove(key)
            else:
                negatives += key not in stored
            most = max(most, len(stored))
        counts = {op: sum(event[0] == op for event in events) for op in "+-?"}
        rows = self.json("replay", "--log", "log", "--filter", "none,bloom,cuckoo,rsqf+mistakes,taf,infini,evergreen", "--compare", "rate")
        self.assertEqual(len(rows), 7)
        for row in rows:
            self.assertEqual((row["members"], row["queries"], row["negatives"]), (most, counts["?"], negatives))
            self.assertEqual((row["inserts"], row["erases"]), (counts["+"], counts["-"]))
            self.assertEqual((row["false_negatives"], row["refused_inserts"]), (0, 0), row["filter"])
            self.assertEqual(row["ignored_erases"], counts["-"] if row["filter"] == "bloom" else 0)
            self.assertEqual(row["store_reads"], counts["?"] - negatives + row["false_positives"])
            self.assertEqual((len(row["keys_over_time"]), len(row["bits_per_key_over_time"])), (10, 10))
            self.assertEqual(row["keys_over_time"][-1], len(stored))
            self.assertAlmostEqual(row["bits_per_key_over_time"][-1] * len(stored), row["bits_per_key"] * most, places=3)
            self.assertGreaterEqual(row["peak_bits_per_key"], row["bits_per_key"])
        by = {row["filter"]: row for row in rows}
        self.assertEqual(by["none"]["false_positives"], negatives)
        # What cannot delete is asked in vain for what was deleted; growing begins small.
        self.assertLess(by["infini"]["bits_per_key_over_time"][0] * by["infini"]["keys_over_time"][0], 0.5 * by["infini"]["peak_bits_per_key"] * most)
        self.assertGreater(by["bloom"]["bits_per_key_over_time"][0], 5 * by["bloom"]["bits_per_key_over_time"][-1])
        text = " ".join(self.ok("replay", "--log", "log", "--filter", "bloom,infini", "--compare", "rate").split())
        self.assertIn(f"{counts['+']:,} inserts and {counts['-']:,} deletes; 0 keys at first, {most:,} at most.", text)
        self.assertIn(f"Cannot delete, so that deleted keys stay in: bloom ({counts['-']:,}).", text)

    def test_without_changes_it_is_the_replay_of_queries(self):
        chance = random.Random(2)
        queries = [str(int(9000 * chance.random() ** 2)) for _ in range(20000)]
        self.write("members", lines(1, 2000))
        self.write("queries", "".join(q + "\n" for q in queries))
        self.write("log", "".join("?" + q + "\n" for q in queries))
        filters = ("--filter", "bloom,rsqf,taf,evergreen-fixed", "--bits-per-key", "10")
        plain = self.json("replay", "--members", "members", "--queries", "queries", *filters)
        logged = self.json("replay", "--members", "members", "--log", "log", *filters)
        for a, b in zip(plain, logged):
            for row in (a, b):
                for field in [f for f in row if "second" in f] + ["keys_over_time", "bits_per_key_over_time"]:
                    del row[field]
            self.assertEqual(a, b)

    def test_both_formats_and_answers(self):
        """A key first heard of as being there was in before; later answers tell of changes that the log does not show."""
        events = [("query", "a", "hit"), ("query", "b", "miss"), ("insert", "b"), ("query", "b", "hit"), ("delete", "c"), ("query", "c", "miss"),
                  ("query", "a", "miss"), ("query", "d", "miss"), ("query", "d", "hit"), ("insert", "d"), ("delete", "e"), ("delete", "e")]
        self.write("tsv", "".join("\t".join(e) + "\n" for e in events))
        sign = {"query": "?", "insert": "+", "delete": "-"}
        self.write("ops", "".join(sign[e[0]] + "\t".join(e[1:]) + "\n" for e in events))
        for name in ("ops", "tsv"):
            (row,) = self.json("replay", "--log", name, "--log-format", name, "--filter", "cuckoo")
            # At first a, c and e are in; a goes and d comes unseen; d's insert and the second delete of e change nothing.
            self.assertEqual((row["queries"], row["negatives"], row["inserts"], row["erases"]), (7, 4, 2, 3))
            self.assertEqual((row["members"], row["keys_over_time"][-1]), (4, 2))
            text = " ".join(self.ok("replay", "--log", name, "--log-format", name, "--filter", "cuckoo").split())
            self.assertIn("3 keys at first, 4 at most. Without effect: 2. Told by hits and misses only: 2 changes.", text)

    def test_keys_of_ops_are_taken_as_they_are(self):
        self.write("log", "+a\tb\n+\n?a\tb\n?a\tb\thit\n?\n? a\n-a\tb\n?a\tb\n")
        (row,) = self.json("replay", "--log", "log", "--filter", "cuckoo")
        self.assertEqual((row["queries"], row["negatives"], row["inserts"], row["erases"]), (5, 2, 2, 1))

    def test_first_sight_inserts(self):
        chance = random.Random(3)
        queries = [str(int(4000 * chance.random() ** 2)) for _ in range(20000)]
        self.write("q", "".join(q + "\n" for q in queries))
        for row in self.json("replay", "--queries", "q", "--first-sight", "insert", "--filter", "none,bloom,evergreen", "--compare", "rate"):
            self.assertEqual((row["inserts"], row["negatives"]), (len(set(queries)), len(set(queries))))
            self.assertEqual((row["repeated_false_positives"], row["false_negatives"]), (0, 0))
            self.assertEqual(row["keys_over_time"][-1], len(set(queries)))
        self.write("m", lines(0, 99))
        row = self.json("replay", "--members", "m", "--queries", "q", "--first-sight", "insert", "--filter", "bloom")[0]
        self.assertEqual(row["inserts"], len({q for q in queries if int(q) > 99}))

    def test_no_file_is_created_over_the_log(self):
        self.write("log", "+a\n?a\n")
        for flag in ("--json", "--html"):
            self.refused("replay", "--log", "log", flag, "log", "--force", says="is read as --log")

    def test_seeds(self):
        self.write_log(churn(4, 20000))
        bloom, taf = self.json("replay", "--log", "log", "--filter", "bloom,taf", "--seeds", "3", "--fpr", "0.05")
        for row in (bloom, taf):
            self.assertEqual(len(row["false_positives_by_seed"]), 3)
            self.assertEqual(row["false_positives_by_seed"][0], row["false_positives"])
        self.assertGreater(len(set(bloom["false_positives_by_seed"])), 1)

    def test_empty_and_standard_input(self):
        self.write("log", "")
        self.assertIn("The log is empty.", self.ok("replay", "--log", "log"))
        self.json("replay", "--log", "log")
        (row,) = self.json("replay", "--log", "-", "--filter", "bloom", stdin="+a\n?a\n?b\n")
        self.assertEqual((row["queries"], row["negatives"]), (2, 1))
        self.ok("replay", "--log", "-", "--html", "page", stdin="+a\n-a\n?a\n?b\n")

    def test_bad_logs_and_flags_are_named(self):
        self.write("good", "+a\n?a\n")
        for content, says in (("+a\nb\n", "line 2: must begin with +, - or ?"), ("+a\n\n", "line 2: must begin with +, - or ?")):
            self.write("log", content)
            self.refused("replay", "--log", "log", says="tamis: log: " + says)
        tsv = ("replay", "--log", "log", "--log-format", "tsv")
        for content, says in (("read\ta\n", "line 1: must begin with insert, delete or query"), ("insert\n", "line 1: has no key"),
                              ("insert\ta\thit\n", "line 1: has a third column"), ("query\ta\tyes\n", "line 1: has a third column"),
                              ("query\ta\thit\tb\n", "line 1: has more than three columns")):
            self.write("log", content)
            self.refused(*tsv, says="tamis: log: " + says)
        self.refused("replay", "--log", "nowhere", says="nowhere: cannot open")
        self.refused("replay", "--log", "good", "--log-format", "csv", says="--log-format 'csv': must be ops or tsv")
        self.refused("replay", "--log", "good", "--first-sight", "delete", says="--first-sight 'delete': must be insert")
        self.refused("replay", "--log", "good", "--store", "rocksdb:s", says="needs --store memory")
        self.refused("replay", "--log", "good", "--queries", "good", code=2, says="--log")
        self.refused("replay", "--log-format", "ops", code=2, says="--log beside --log-format")
        self.refused("replay", "--first-sight", "insert", code=2, says="--log or --queries")


if __name__ == "__main__":
    unittest.main()
