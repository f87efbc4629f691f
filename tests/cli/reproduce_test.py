"""tamis reproduce: lists, runs, judges, goes on after an end by force, and refuses to mix."""

import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.dom.minidom

from tool import TOOL, ToolTest

FAST = "ascf-sizes"  # a second, one run
SEVERAL = "acf-omega"  # a tenth of a second a run


class Reproduce(ToolTest):
    def reproduce(self, *names, out="out", **more):
        return self.ok("reproduce", *names, "--out", out, **more)

    def names(self):
        return [e["experiment"] for e in json.loads(self.ok("reproduce", "--list", "--json", "-"))]

    def test_list(self):
        text = self.ok("reproduce", "--list")
        listed = json.loads(self.ok("reproduce", "--list", "--json", "-"))
        self.assertGreaterEqual(len(listed), 22)
        self.assertEqual([e["experiment"] for e in listed], sorted(e["experiment"] for e in listed))
        for e in listed:
            self.assertIn(e["experiment"], text)
            self.assertTrue(e["claim"] and e["agrees"] and e["paper"] and e["figures"] and e["parameters"])
            self.assertGreater(e["seconds_paper"], 0)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100)

    def test_one_experiment(self):
        text = self.reproduce(FAST)
        self.assertRegex(text, rf"(?m)^{FAST} +agrees +2 of 2 claims agree")
        files = os.listdir(self.path("out"))
        for name in (f"{FAST}.csv", f"{FAST}.json", f"{FAST}-figure-1.svg", "index.html", "results.json", "reproduce.json"):
            self.assertIn(name, files)
        self.assertEqual(self.read(f"out/{FAST}.csv").split(b"\n")[0], b"keys,cuckoo,vacuum,ascf,ideal")
        result = json.loads(self.read(f"out/{FAST}.json"))
        self.assertEqual(result["verdict"], "agrees")
        self.assertEqual(result["conditions"], {"tamis": result["versions"]["tamis"], "scale": "quick", "seed": 1, "log": ""})
        self.assertGreater(result["each_run"][0]["machine"]["cores"], 0)
        self.assertIn("compiler", result["versions"])
        self.assertEqual(len(result["rows"]), len(self.read(f"out/{FAST}.csv").splitlines()) - 1)
        self.assertEqual(len(result["rows"][0]["ascf"]["samples"]), 1)
        xml.dom.minidom.parseString(self.read(f"out/{FAST}-figure-1.svg"))
        page = self.read("out/index.html").decode()
        self.assertIn("within 2 % of log2(8/eps)/0.95", page)
        self.assertEqual(page.count("<svg"), 1)
        self.assertNotRegex(page, r'(src|href)="?(https?:)?//')
        summary = json.loads(self.read("out/results.json"))
        self.assertEqual([e["experiment"] for e in summary["experiments"]], [FAST])

    def test_log(self):
        """2,000 keys, key i in i % 7 + 1 packets: what is stored and asked can be counted."""
        packets = [f"key {i}" for turn in range(7) for i in range(2000) if i % 7 >= turn]
        self.write("keys", "\n".join(packets))
        self.reproduce("acf-traces", "--log", "keys", "--runs", "1")
        rows = json.loads(self.read("out/acf-traces.json"))["rows"]
        self.assertEqual({row["trace"] for row in rows}, {"keys"})
        for row in rows:
            stored = 2000 // (1 + int(row["ratio"]))
            self.assertEqual(int(row["keys"]), stored)
            self.assertEqual(int(row["queries"]), sum(i % 7 + 1 for i in range(stored, 2000)))
        of_all = lambda name: sum(row[name]["samples"][0] for row in rows if str(row["slot_bits"]) == "8")
        self.assertGreater(of_all("plain"), 1.5 * of_all("cuckooing"))  # four packets a key: a fix helps three of them
        with gzip.open(self.path("keys.gz"), "wb") as out:
            out.write(self.read("keys"))
        self.reproduce("acf-traces", "--log", "keys.gz", "--runs", "1", out="zipped")
        self.assertEqual(self.read("zipped/acf-traces.csv").replace(b"keys.gz", b"keys"), self.read("out/acf-traces.csv"))

    def test_data_and_pages(self):
        os.mkdir(self.path("data"))
        log = "".join(f"key {i * i % 20011}\n" for i in range(60000))
        self.write("data/squares.txt", log.encode())
        self.reproduce("evergreen-contest", "--data", self.path("data"), "--pages", self.path("pages"))
        rows = self.read("out/evergreen-contest.csv").decode().splitlines()
        self.assertTrue(any(r.startswith("squares,10,evergreen-fixed,") for r in rows))
        page = self.read("pages/evergreen-contest.md").decode()
        self.assertIn("| squares (", page)
        self.assertRegex(page, r"commit \w+.*\n?.*20\d\d-\d\d-\d\d")
        for line in page.splitlines():
            if not line.startswith(("|", "!", "./run", "<!--")):
                self.assertLessEqual(len(line), 100)
        for chart in re.findall(r"\((evergreen-contest/.*\.svg)\)", page):
            xml.dom.minidom.parseString(self.read("pages/" + chart))
        self.assertEqual(self.read("pages/evergreen-contest/evergreen-contest.csv"), self.read("out/evergreen-contest.csv"))
        # What was made with data is not mixed with what was made without.
        self.refused("reproduce", "evergreen-contest", "--out", "out", says="holds results of data")
        self.refused("reproduce", FAST, "--out", "other", "--data", "none", says="is not a folder")

    def test_pages_keep_remarks_and_nothing_else(self):
        self.reproduce(FAST, "--pages", self.path("pages"))
        page = self.read(f"pages/{FAST}.md")
        self.assertTrue(page.startswith(f"<!-- begin {FAST}:".encode()))
        text = page.split(b"-->\n", 1)[1].split(b"<!-- end", 1)[0]
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
        import read_tamis
        mark = page.splitlines()[-1].decode()
        self.assertIn(f": text {read_tamis.xxh3_64(text):016x};", mark)
        self.assertIn(f"; {FAST}/{FAST}.csv {read_tamis.xxh3_64(self.read(f'pages/{FAST}/{FAST}.csv')):016x};", mark)
        self.write(f"pages/{FAST}.md", b"A remark.\n" + page.replace(b"Claim", b"Blame") + b"Another.\n")
        self.reproduce(FAST, "--pages", self.path("pages"))
        self.assertEqual(self.read(f"pages/{FAST}.md"), b"A remark.\n" + page + b"Another.\n")
        self.write(f"pages/{FAST}.md", b"My own page.\n")
        self.refused("reproduce", FAST, "--out", "out", "--pages", self.path("pages"), says="has no page of ascf-sizes")
        self.assertEqual(self.read(f"pages/{FAST}.md"), b"My own page.\n")

    def test_log_too_short(self):
        self.write("few", "a\nb\na\n")
        self.refused("reproduce", "acf-traces", "--log", "few", "--out", "out", says="few: has 2 different keys")
        self.write("some", "\n".join(map(str, range(3000))))
        self.refused("reproduce", "abf-traces", "--log", "some", "--out", "out2", says="too few different keys")

    def test_same_seed_same_table(self):
        self.reproduce(SEVERAL, "--runs", "2", out="a")
        self.reproduce(SEVERAL, "--runs", "2", "--jobs", "1", out="b")
        self.reproduce(SEVERAL, "--runs", "2", "--seed", "2", out="c")
        self.assertEqual(self.read(f"a/{SEVERAL}.csv"), self.read(f"b/{SEVERAL}.csv"))
        self.assertNotEqual(self.read(f"a/{SEVERAL}.csv"), self.read(f"c/{SEVERAL}.csv"))

    def test_results_add_up(self):
        """A second command in the same folder keeps what the first did, and more runs make smaller steps."""
        self.reproduce(SEVERAL, "--runs", "1")
        kept = self.sum(f"out/runs/{SEVERAL}.0.json")
        self.reproduce(SEVERAL, "--runs", "2", "--json", "all.json")
        self.assertEqual(self.sum(f"out/runs/{SEVERAL}.0.json"), kept)
        self.assertEqual(json.loads(self.read("all.json"))["experiments"][0]["runs"], 2)
        self.assertIn(b"cyclic_1_error", self.read(f"out/{SEVERAL}.csv"))
        self.reproduce(FAST)
        self.assertEqual([e["experiment"] for e in json.loads(self.read("out/results.json"))["experiments"]], [SEVERAL, FAST])
        self.assertIn(f'id="{SEVERAL}"', self.read("out/index.html").decode())

    def stop(self, by):
        """Starts forty runs, ends the command when the first two are done, and says which runs were finished."""
        command = [TOOL, "reproduce", SEVERAL, "--runs", "40", "--jobs", "1", "--out", "out"]
        process = subprocess.Popen(
            command, cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job has it ignored
        )  # fmt: skip
        until = time.monotonic() + 120
        while not os.path.exists(self.path(f"out/runs/{SEVERAL}.1.json")):
            self.assertLess(time.monotonic(), until)
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(by)
        message = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, -by)
        finished = sorted(f for f in os.listdir(self.path("out/runs")) if f.endswith(".json"))
        self.assertGreaterEqual(len(finished), 2)
        return {f: self.sum(f"out/runs/{f}") for f in finished}, message

    def goes_on(self, finished):
        self.reproduce(SEVERAL, "--runs", "40")
        for name, content in finished.items():
            self.assertEqual(self.sum(f"out/runs/{name}"), content, f"{name} was made again")
        self.reproduce(SEVERAL, "--runs", "40", out="whole")
        self.assertEqual(self.read(f"out/{SEVERAL}.csv"), self.read(f"whole/{SEVERAL}.csv"))

    def test_goes_on_after_interrupt(self):
        finished, message = self.stop(signal.SIGINT)
        self.assertIn("interrupted", message)
        self.assertLess(len(finished), 40)
        self.goes_on(finished)

    def test_goes_on_after_kill(self):
        finished, _ = self.stop(signal.SIGKILL)
        self.write(f"out/runs/{SEVERAL}.9.json.tmp-1-1", "half a fi")  # what a kill in the middle of writing leaves
        self.goes_on(finished)
        self.assertEqual([f for f in os.listdir(self.path("out/runs")) if ".tmp-" in f], [])

    def test_damaged_run_is_made_again(self):
        self.reproduce(SEVERAL, "--runs", "2")
        table = self.read(f"out/{SEVERAL}.csv")
        whole = self.read(f"out/runs/{SEVERAL}.1.json")
        number = re.search(rb"\[(\d+)\.0,", whole)
        wrong = whole[: number.start(1)] + b"7" + whole[number.start(1) :]  # still JSON, with another value
        for content in (b"", whole[: len(whole) // 2], b"[]", b"{}", wrong, self.read(f"out/runs/{SEVERAL}.0.json")):
            self.write(f"out/runs/{SEVERAL}.1.json", content)
            done = self.run_tool("reproduce", SEVERAL, "--runs", "2", "--out", "out")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"note: out/runs/{SEVERAL}.1.json: is ".encode(), done.stderr)
            self.assertEqual(self.read(f"out/{SEVERAL}.csv"), table)

    def test_conditions_are_not_mixed(self):
        self.reproduce(FAST)
        self.refused("reproduce", FAST, "--seed", "2", "--out", "out", says="out: holds results of seed 1, and this is 2")
        self.refused("reproduce", FAST, "--scale", "paper", "--out", "out", says='holds results of scale "quick"')
        manifest = json.loads(self.read("out/reproduce.json"))
        self.write("out/reproduce.json", json.dumps({**manifest, "tamis": "0.0.1"}))
        self.refused("reproduce", FAST, "--out", "out", says='holds results of tamis "0.0.1"')
        self.write("out/reproduce.json", "{")
        self.refused("reproduce", FAST, "--out", "out", says="out/reproduce.json: is damaged")

    def test_wrong_usage(self):
        self.refused("reproduce", "no-such", "--out", "out", says="experiment 'no-such': unknown; `tamis reproduce --list`")
        self.refused("reproduce", code=2, says="name experiments")
        self.refused("reproduce", FAST, code=2, says="--out DIR is required")
        self.refused("reproduce", FAST, "--scale", "huge", "--out", "out", code=2, says="huge")
        self.refused("reproduce", FAST, "--runs", "0", "--out", "out", says="--runs")
        self.refused("reproduce", FAST, "--log", "missing", "--out", "out", says="missing: is not a file")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_bad_folders(self):
        os.mkdir(self.path("mine"))
        self.write("mine/index.html", "precious")
        self.refused("reproduce", FAST, "--out", "mine", says="mine: holds other files")
        self.assertEqual(self.read("mine/index.html"), b"precious")
        self.write("file", "x")
        self.refused("reproduce", FAST, "--out", "file", says="file: is not a folder")
        self.refused("reproduce", FAST, "--out", "/proc/no", says="/proc/no: cannot be made")
        self.refused("reproduce", FAST, "--out", "/dev/full/x", says="/dev/full/x: cannot be made")

    def test_one_command_at_a_time(self):
        command = [TOOL, "reproduce", SEVERAL, "--runs", "100", "--out", "out"]
        with subprocess.Popen(command, cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            until = time.monotonic() + 60
            while not os.path.exists(self.path("out/reproduce.json")) and time.monotonic() < until:
                time.sleep(0.01)
            self.refused("reproduce", SEVERAL, "--out", "out", says="out: another `tamis reproduce` is at work in it")
            first.kill()

    def test_needs_no_other_program(self):
        """No gnuplot, no browser, no network: charts are drawn by tamis itself."""
        self.reproduce(FAST, env={"PATH": "/nowhere"})
        self.assertTrue(os.path.exists(self.path(f"out/{FAST}-figure-1.svg")))

    def test_says_how_to_build_what_is_missing(self):
        tool = self.path("tamis")
        with open(TOOL, "rb") as source, open(tool, "wb") as copy:
            copy.write(source.read())
        os.chmod(tool, 0o755)
        done = subprocess.run([tool, "reproduce", "--list"], capture_output=True, env=self.env)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"tamis-reproduce: is not built; `./run reproduce`", done.stderr)


if __name__ == "__main__":
    unittest.main()
