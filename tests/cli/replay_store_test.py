"""Replay in front of RocksDB, and the report that opens in a browser."""

import html.parser
import os
import re
import shutil
import subprocess
import unittest

from tool import ToolTest

SMALL = ("replay", "--keys", "5000", "--queries-count", "60000", "--filter", "bloom,bloom1")


def without_time(results):
    return [{k: v for k, v in r.items() if k not in ("seconds", "queries_per_second")} for r in results]


class RocksDB(ToolTest):
    def setUp(self):
        super().setUp()
        done = self.run_tool(*SMALL, "--store", "rocksdb:probe")
        if b"built without RocksDB" in done.stderr:
            self.skipTest("this tamis was built without RocksDB")

    def test_our_filters_do_the_same_in_front_of_both_stores(self):
        memory = self.json(*SMALL)
        disk = self.json(*SMALL, "--store", "rocksdb:store")
        self.assertEqual(without_time(memory), without_time(disk[: len(memory)]))

    def test_its_own_bloom_filter_is_a_row(self):
        row = self.json(*SMALL, "--store", "rocksdb:store", "--bits-per-key", "10")[-1]
        self.assertEqual((row["filter"], row["adaptations"], row["false_negatives"]), ("rocksdb-bloom", 0, 0))
        self.assertEqual(row["store_reads"], row["queries"] - row["negatives"] + row["false_positives"])
        self.assertGreater(row["repeated_false_positives"], 0)
        self.assertLess(row["fpr"], 0.03)
        self.assertAlmostEqual(row["bits_per_key"], 10, delta=1.5)

    def test_members_that_are_there_are_used_again_and_others_refused(self):
        first = self.json(*SMALL, "--store", "rocksdb:store")
        again = self.json(*SMALL, "--store", "rocksdb:store")
        self.assertEqual(without_time(first), without_time(again))
        self.refused("replay", "--keys", "500", "--queries-count", "100", "--store", "rocksdb:store", says="another replay")

    def test_a_directory_that_is_not_ours(self):
        os.mkdir(self.path("mine"))
        self.write("mine/letter", "dear diary")
        self.refused(*SMALL, "--store", "rocksdb:mine", says="letter")
        self.refused(*SMALL, "--store", "rocksdb:", says="must be memory or rocksdb:DIR")


class Report(ToolTest):
    def report(self, *more):
        self.ok(*SMALL, "--html", "report.html", *more)
        return self.read("report.html").decode()

    def test_has_every_filter_and_loads_nothing(self):
        page = self.report()
        for name in ("bloom", "bloom1", "first-time", "repeated"):
            self.assertIn(name, page)
        self.assertIsNone(re.search(r"(?:src|href)\s*=|url\(|@import|<script", page))
        html.parser.HTMLParser().feed(page)

    def test_is_written_whole_or_not_at_all(self):
        self.refused(*SMALL, "--html", "nowhere/report.html", says="nowhere/report.html")
        self.write("report.html", "old")
        self.refused("replay", "--members", "nowhere", "--queries", "nowhere", "--html", "report.html", says="nowhere")
        self.assertEqual(self.read("report.html"), b"old")

    def test_file_names_are_text(self):
        self.write("<b>&m", "a\nb\n")
        self.write("q", "a\nc\nd\n")
        self.ok("replay", "--members", "<b>&m", "--queries", "q", "--filter", "bloom", "--html", "report.html")
        self.assertNotIn(b"<b>", self.read("report.html"))

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not here")
    def test_opens_in_a_browser(self):
        self.report()
        profile = self.path("profile")
        browser = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        url = "file://" + self.path("report.html")
        seen = subprocess.run([*browser, "--dump-dom", url], capture_output=True, timeout=180, check=True).stdout.decode()
        self.assertEqual(seen.count('class="curve"'), 2)
        subprocess.run([*browser, "--window-size=1280,900", "--screenshot=" + self.path("report.png"), url], capture_output=True, timeout=180, check=True)
        self.assertGreater(os.path.getsize(self.path("report.png")), 10_000)


if __name__ == "__main__":
    unittest.main()
