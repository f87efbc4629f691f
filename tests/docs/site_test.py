"""The site of `./run docs`: every link leads somewhere, no page is wider than a phone, nothing is asked of the network.

TAMIS_LONG=1 opens every page in the browser; otherwise one of each kind. TAMIS_PICTURES=DIR keeps what was seen there."""

import functools
import html.parser
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
OUT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import browser  # noqa: E402

SKIPPED = 77  # for ctest
WIDTH = 360


def missing():
    tools = {"mkdocs": shutil.which("mkdocs"), "mkdocs-material": os.path.exists("/usr/share/mkdocs/themes/material"),
             "doxygen": shutil.which("doxygen"), "chromium": browser.program()}
    return [name for name, there in tools.items() if not there]


class Links(html.parser.HTMLParser):
    """What a page links to and shows, and what can be linked to on it."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        for name in ("id", "name"):
            if of.get(name) and (name == "id" or tag == "a"):
                self.anchors.add(of[name])
        for name in ("href", "src"):
            if of.get(name) and not (tag == "link" and of.get("rel") == "canonical"):
                self.targets.append((tag, of[name]))


def broken_links(site):
    """["PAGE: TARGET", …] of all links that lead nowhere, and of all scripts, styles and pictures that are not here."""
    pages = {p: Links(p.read_text()) for p in sorted(site.rglob("*.html"))}
    found = []
    for page, links in pages.items():
        if page.name == "404.html":
            continue
        for tag, target in links.targets:
            split = urllib.parse.urlsplit(target)
            if split.scheme in ("mailto", "data"):
                continue
            if split.scheme or split.netloc:
                if tag != "a":
                    found.append(f"{page.relative_to(site)}: is not here: {target}")
                continue
            there = page.parent / urllib.parse.unquote(split.path) if split.path else page
            there = pathlib.Path(os.path.normpath(there))
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                found.append(f"{page.relative_to(site)}: no such file: {target}")
            elif split.fragment and there in pages and urllib.parse.unquote(split.fragment) not in pages[there].anchors | {"__skip"}:
                found.append(f"{page.relative_to(site)}: no such place: {target}")
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Served:
    """A folder at an address of this machine."""

    def __init__(self, folder):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
WIDEST = """[...document.querySelectorAll('.md-content *, body > *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.tagName + '.' + e.className).slice(0, 5).join(' ')"""
BLIND = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src).join(' ')"


def faults(seen, url, served):
    """What is wrong with a page as the browser shows it now."""
    seen.open(url)
    seen.run("Promise.all([...document.images].map(i => i.decode().catch(() => 0)))")
    wrong = [f"asks {r}" for r in seen.requests if not r.startswith((served.url, "data:", "blob:"))]
    wrong += seen.complaints
    if seen.run(WIDER):
        wrong.append("is too wide: " + seen.run(WIDEST))
    if blind := seen.run(BLIND):
        wrong.append("shows no picture: " + blind)
    return [f"{url.removeprefix(served.url)}: {w}" for w in wrong]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([sys.executable, str(ROOT / "tools" / "site" / "build.py"), str(ROOT), str(OUT)], check=True)
        cls.site = OUT / "site"
        cls.served = Served(cls.site)
        cls.browser = browser.Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.served.close()

    def pages(self):
        every = sorted(p.relative_to(self.site).as_posix() for p in self.site.rglob("*.html"))
        if os.environ.get("TAMIS_LONG"):
            return every
        kinds = ["index", "tutorial", "filters/evergreen", "filters/abf", "results/index", "tuning/peers-emerald-rapids",
                 "reference/index", "reference/any_filter",
                 "reference/concepts", "reference/tamis-c", "project/CHANGELOG", "format"]
        return [k + ".html" for k in kinds]

    def test_no_link_is_broken(self):
        self.assertEqual(broken_links(self.site), [])

    def test_every_document_has_a_page(self):
        for path in (ROOT / "docs").rglob("*.md"):
            name = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README.html", "index.html")
            with self.subTest(name):
                self.assertTrue((self.site / name).exists())

    def test_pages_fit_a_phone_and_ask_nobody(self):
        self.browser.resize(WIDTH, 780)
        for page in self.pages():
            with self.subTest(page):
                self.assertEqual(faults(self.browser, self.served.url + page, self.served), [])

    def test_the_reference_has_every_public_header(self):
        for name in ("any_filter", "key_filter", "filters-evergreen", "guard-guarded_store", "tamis-c"):
            text = (self.site / "reference" / f"{name}.html").read_text()
            with self.subTest(name):
                self.assertGreater(text.count("<pre"), 3)
        text = (self.site / "reference" / "any_filter.html").read_text()
        self.assertIn("may_contain", text)
        self.assertIn("Requires:", text)

    def test_search_finds(self):
        self.browser.resize(1280, 800)
        self.browser.open(self.served.url + "index.html?q=evergreen")
        found = self.browser.wait_for("[...document.querySelectorAll('.md-search-result__link')].map(a => a.href).join(' ')")
        self.assertIn("evergreen", found)

    def test_dark_and_light(self):
        light = "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
        for dark in (False, True):
            self.browser.resize(1280, 800, dark)
            self.browser.open(self.served.url + "index.html")
            # The palette is kept from page to page; this one begins without.
            self.browser.run("localStorage.clear(); sessionStorage.clear()")
            self.browser.open(self.served.url + "index.html")
            self.assertEqual(self.browser.run(light) < 3 * 80, dark)
            if folder := os.environ.get("TAMIS_PICTURES"):
                self.browser.picture(os.path.join(folder, f"index-{'dark' if dark else 'light'}.png"))

    def test_the_demo_runs_where_there_is_emscripten(self):
        self.browser.resize(1280, 800)
        self.browser.open(self.served.url + "index.html")
        self.assertEqual(self.browser.run("document.images.length"), 2)  # what stands there in any case
        if shutil.which("em++") is None:
            self.assertFalse(self.browser.run("Boolean(document.getElementById('demo'))"))
            return
        said = self.browser.wait_for("!document.getElementById('demo').hidden && document.getElementById('demo-says').textContent")
        keys, _, bloom, evergreen, lost = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", said)]
        self.assertGreater(keys, 30000)
        self.assertGreater(bloom, 100 * evergreen)  # made for a thousand keys, and never told of its mistakes
        self.assertGreater(evergreen, 0)
        self.assertEqual(lost, 0)
        self.browser.run("document.getElementById('demo-size').value = '10000'; document.getElementById('demo-run').click()")
        self.browser.wait_for("/^1[1-9],\\d{3} keys/.test(document.getElementById('demo-says').textContent)")
        self.assertEqual(self.browser.run("document.querySelectorAll('#demo svg polyline').length"), 4)
        self.browser.run("document.getElementById('demo-ask').click()")
        advised = self.browser.wait_for("[...document.querySelectorAll('#demo-advice tbody tr')].map(r => r.innerText).join('\\n')")
        self.assertGreater(len(advised.split("\n")), 3)
        self.assertIn("evergreen", advised)
        self.assertRegex(self.browser.run("document.getElementById('demo-advice').innerText"), r"--growth \d")


class Faults(unittest.TestCase):
    """The checks above see what they are for."""

    def test_each_fault_is_seen(self):
        bodies = {
            "good": "<p id=here>x</p><a href='#here'>x</a>",
            "wide": "<div style='width:500px'>x</div>",
            "asks": "<img src='http://192.0.2.1/x.png' alt=''>",
            "blind": "<img src='data:image/png;base64,AAAA' alt=''>",
            "script": "<script>nothing.here()</script>",
            "gone": "<a href='nowhere.html'>x</a>",
            "place": "<a href='good.html#there'>x</a>"}
        with tempfile.TemporaryDirectory() as folder, browser.Browser() as seen:
            for name, body in bodies.items():
                pathlib.Path(folder, name + ".html").write_text(
                    f"<!doctype html><meta name=viewport content='width=device-width'><link rel=icon href='data:,'><body>{body}")
            broken = broken_links(pathlib.Path(folder))
            self.assertEqual(len(broken), 3, broken)
            served = Served(folder)
            seen.resize(WIDTH, 780)
            for name, words in {"good": None, "wide": "too wide", "asks": "asks", "blind": "no picture", "script": "nothing"}.items():
                with self.subTest(name):
                    wrong = " ".join(faults(seen, f"{served.url}{name}.html", served))
                    self.assertIn(words, wrong) if words else self.assertEqual(wrong, "")
            served.close()


if __name__ == "__main__":
    if lacking := missing():
        print("site: not installed: " + ", ".join(lacking) + "; ./setup check installs them")
        sys.exit(1 if shutil.which("apt-get") else SKIPPED)
    unittest.main()
