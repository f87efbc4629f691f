"""Replay in front of RocksDB, and the report that opens in a browser."""

import html.parser
import os
import re
import shutil
import subprocess
import time
import unittest

from tool import TOOL, ToolTest, lines

SMALL = ("replay", "--keys", "5000", "--queries-count", "60000", "--filter", "bloom,bloom1")


def without_time(results):
    return [{k: v for k, v in r.items() if "second" not in k} for r in results]


def open_files(process):
    """What the process has open now; it opens and closes files while we look."""
    descriptors = f"/proc/{process.pid}/fd"
    for descriptor in os.listdir(descriptors):
        try:
            yield os.readlink(os.path.join(descriptors, descriptor))
        except FileNotFoundError:
            pass  # closed since it was listed


class RocksDB(ToolTest):
    def setUp(self):
        super().setUp()
        done = self.run_tool(*SMALL, "--store", "rocksdb:probe")
        if b"built without RocksDB" in done.stderr:
            self.skipTest("this tamis was built without RocksDB")

    def test_our_filters_do_the_same_in_front_of_both_stores(self):
        memory = self.json(*SMALL, "--seeds", "1")
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
        self.refused(*SMALL, "--store", "rocksdb:mine/letter", says="Not a directory")
        self.assertEqual(os.listdir(self.path("mine")), ["letter"])
        self.refused(*SMALL, "--store", "rocksdb:probe/plain/db", says="not made by tamis replay")  # a database, but of its own
        self.refused(*SMALL, "--store", "rocksdb:probe/plain", says="not made by tamis replay")
        self.refused(*SMALL, "--store", "rocksdb:", says="must be memory or rocksdb:DIR")

    def test_a_database_in_use(self):
        self.write("m", lines(1, 100))
        command = ("replay", "--members", "m", "--queries", "-", "--filter", "bloom", "--store", "rocksdb:store")
        holder = subprocess.Popen([TOOL, *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self.dir)
        try:
            self.wait_until_open(holder, "store/bloom/db/LOCK")
            message = self.refused(*command, stdin=lines(1, 10))
            self.assertEqual(message, "tamis: store/plain: in use by another process\n")
        finally:
            holder.communicate(lines(1, 10).encode())
        self.assertEqual(holder.returncode, 0)
        self.ok(*command, stdin=lines(1, 10))

    def wait_until_open(self, process, name):
        for _ in range(600):
            if any(link.endswith(name) for link in open_files(process)):
                return
            time.sleep(0.05)
        self.fail(f"{name} was not opened")

    def read_only(self, mount, *args):
        """Runs the tool where the directory `disk` is mounted read-only."""
        inside = [shutil.which("unshare") or "unshare", "-rm", "sh", "-c", mount + ' && exec "$@"', "sh"]
        if subprocess.run([*inside, "true"], cwd=self.dir, capture_output=True).returncode != 0:
            self.skipTest("mounting is not allowed here")
        return subprocess.run([*inside, TOOL, *args], cwd=self.dir, capture_output=True, text=True)

    def test_a_read_only_disk(self):
        os.mkdir(self.path("disk"))
        new = "mount -t tmpfs -o ro tmpfs disk"
        self.ok(*SMALL, "--store", "rocksdb:disk/old")
        old = "mount --bind disk disk && mount -o remount,bind,ro disk"
        for mount, target in ((new, "disk/new"), (old, "disk/old"), (old, "disk/new")):
            done = self.read_only(mount, *SMALL, "--store", "rocksdb:" + target)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"\Atamis: disk/.*: .*Read-only file system\n\Z")
        done = self.read_only(new, *SMALL, "--html", "disk/report.html")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Atamis: disk/report.html: .*Read-only file system\n\Z")

    def test_members_that_are_there_twice(self):
        self.write("once", lines(1, 3000))
        self.write("twice", lines(1, 3000) + lines(500, 2500))
        self.write("q", lines(2000, 30000))
        shown = {}
        for name in ("once", "twice"):
            shown[name] = self.json("replay", "--members", name, "--queries", "q", "--filter", "bloom,cuckoo,taf", "--store", "rocksdb:s-" + name)
            self.assertEqual({r["members"] for r in shown[name]}, {3000})
        self.assertEqual(without_time(shown["once"]), without_time(shown["twice"]))

    def test_empty_files(self):
        self.write("empty", "")
        self.write("some", lines(1, 50))
        for members, queries in (("empty", "some"), ("some", "empty"), ("empty", "empty")):
            store = f"rocksdb:{members}-{queries}"
            for r in self.json("replay", "--members", members, "--queries", queries, "--store", store, "--html", "report.html", "--force"):
                self.assertEqual((r["false_negatives"], r["false_positives"] if members == "empty" and queries == "empty" else 0), (0, 0))
            self.assertIn(b"</html>", self.read("report.html"))

    def test_keys_of_a_megabyte(self):
        long = [chr(ord("a") + i) * (1 << 20) for i in range(8)]
        self.write("m", "\n".join(long[:4]) + "\n")
        self.write("q", "\n".join(long * 2) + "\n")
        for r in self.json("replay", "--members", "m", "--queries", "q", "--store", "rocksdb:s", "--filter", "bloom,taf"):
            self.assertEqual((r["members"], r["queries"], r["negatives"], r["distinct_negatives"], r["false_negatives"]), (4, 16, 8, 4, 0))


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
        self.refused("replay", "--members", "nowhere", "--queries", "nowhere", "--html", "report.html", "--force", says="nowhere")
        self.assertEqual(self.read("report.html"), b"old")

    def test_file_names_are_text(self):
        self.write("<b>&m", "a\nb\n")
        self.write("q", "a\nc\nd\n")
        self.ok("replay", "--members", "<b>&m", "--queries", "q", "--filter", "bloom", "--html", "report.html")
        self.assertNotIn(b"<b>", self.read("report.html"))

    def browser(self, *args):
        profile = self.path("profile")
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"]
        return subprocess.run([*command, f"--user-data-dir={profile}", *args], capture_output=True, timeout=180, check=True).stdout.decode()

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not here")
    def test_opens_in_a_browser(self):
        self.report()
        url = "file://" + self.path("report.html")
        seen = self.browser("--dump-dom", url)
        self.assertEqual(seen.count('class="curve"'), 2)
        self.assertEqual(seen.count('class="line '), 2)
        self.browser("--window-size=1280,900", "--screenshot=" + self.path("report.png"), url)
        self.assertGreater(os.path.getsize(self.path("report.png")), 10_000)

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not here")
    def test_fits_narrow_and_wide_screens(self):
        """With one filter and with all of them: nothing wider than the screen, no label on another, every bar inside its chart."""
        self.ok("replay", "--keys", "5000", "--queries-count", "60000", "--html", "all.html")
        self.ok("replay", "--keys", "5000", "--queries-count", "60000", "--filter", "bloom", "--html", "one.html")
        self.write("look.html", LOOK)
        for page in ("all.html", "one.html"):
            for width in (400, 1280):
                seen = self.browser("--window-size=1400,900", "--virtual-time-budget=5000", "--dump-dom", f"file://{self.path('look.html')}?{page}&{width}")
                self.assertIn("<p>looked: nothing wrong</p>", seen, f"{page} at {width} pixels: " + seen[-600:])


# Shows a page in a frame of a given width and writes down what is wrong with it.
LOOK = """<!doctype html><body><script>
const [page, width] = location.search.slice(1).split("&");
const frame = document.createElement("iframe");
frame.width = width;
frame.height = 3000;
frame.onload = () => {
  const inside = frame.contentDocument, wrong = [];
  const size = e => e.getBoundingClientRect();
  if (inside.documentElement.scrollWidth > width) wrong.push("wider than the screen: " + inside.documentElement.scrollWidth);
  const names = [...inside.querySelectorAll(".names span, .scale span")].map(e => [e.textContent, size(e)]);
  if (names.length < 3) wrong.push("no labels");
  for (const [text, a] of names) for (const [other, b] of names) {
    const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    if (text !== other && !apart) wrong.push(text + " lies on " + other);
    if (a.left < 0 || a.right > width) wrong.push(text + " is cut off");
  }
  for (const bar of inside.querySelectorAll(".bar rect")) {
    if (size(bar).right > size(bar.parentNode).right + 1) wrong.push("a bar is too long");
  }
  document.body.innerHTML = "<p>looked: " + (wrong.join("; ") || "nothing wrong") + "</p>";
};
frame.src = page;
document.body.append(frame);
</script></body>
"""


if __name__ == "__main__":
    unittest.main()
