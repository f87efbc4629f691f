"""Numbers are written by the program that measured them: a page of docs/results between marks is as `tamis reproduce --pages` left it,
and so are the charts and tables that it shows."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import read_tamis  # noqa: E402
import results_index  # noqa: E402

PAGES = ROOT / "docs" / "results"
BLOCK = re.compile(r"<!-- begin (\S+): written by tamis reproduce, not by hand -->\n(.*?)<!-- end \1: text ([0-9a-f]{16})((?:; \S+ [0-9a-f]{16})*) -->\n",
                   re.DOTALL)


def sum_of(data):
    return f"{read_tamis.xxh3_64(data):016x}"


def faults(page, folder):
    """What is wrong with the marked blocks of a page whose files lie in `folder`."""
    wrong = []
    found = BLOCK.findall(page)
    if len(found) != page.count("<!-- begin ") or len(found) != page.count("<!-- end "):
        wrong.append("has marks that do not fit together")
    for name, text, said, files in found:
        if sum_of(text.encode()) != said:
            wrong.append(f"{name}: was changed by hand; run the command at its end again")
        listed = dict(part.split(" ") for part in files.split("; ") if part)
        for file in sorted(set(re.findall(r"\]\(([^)#:]+\.(?:csv|svg))\)", text)) - set(listed)):
            wrong.append(f"{name}: {file} is not among its sources")
        for file, file_sum in listed.items():
            if not (folder / file).exists():
                wrong.append(f"{name}: {file} is missing")
            elif sum_of((folder / file).read_bytes()) != file_sum:
                wrong.append(f"{name}: {file} is not the one that the page was made with")
        if not re.search(r"commit \w{7,}", " ".join(text.split())) or not re.search(r"20\d\d-\d\d-\d\d", text):
            wrong.append(f"{name}: does not say which commit was measured, and when")
    return wrong


class Pages(unittest.TestCase):
    def test_there_are_generated_pages(self):
        self.assertGreater(sum(bool(BLOCK.search(p.read_text())) for p in PAGES.glob("*.md")), 0)

    def test_pages_are_as_they_were_written(self):
        for page in sorted((ROOT / "docs").rglob("*.md")):
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(faults(page.read_text(), page.parent), [])

    def test_nothing_else_stands_on_them(self):
        for page in sorted(PAGES.glob("*.md")):
            with self.subTest(page=page.name):
                if page.stem != "README":
                    self.assertEqual(BLOCK.sub("", page.read_text()).strip(), "", "write it with `tamis reproduce --pages`")

    def test_their_index_is_made_of_them(self):
        readme = (PAGES / "README.md").read_text()
        self.assertEqual(results_index.written(ROOT), readme, "python3 tools/results_index.py .")
        self.assertNotRegex(results_index.MARKED.sub("", readme), r"\d\.\d\d|\d %", "figures stand on the pages")

    def test_every_file_of_results_is_shown(self):
        shown = "".join(p.read_text() for p in [*PAGES.glob("*.md"), ROOT / "README.md"])
        for file in sorted(PAGES.glob("*/*")):
            with self.subTest(file=file.name):
                self.assertIn(file.parent.name, shown)

    def test_a_change_by_hand_is_noticed(self):
        page = next(p for p in sorted(PAGES.glob("*.md")) if BLOCK.search(p.read_text()))
        text = page.read_text()
        digit = re.search(r"\d\.\d", text).start()
        changed = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1:]
        self.assertIn("by hand", faults(changed, page.parent)[0])
        self.assertIn("is missing", " ".join(faults(text, page.parent / "elsewhere")))
        self.assertIn("do not fit", " ".join(faults(text.replace("<!-- end", "<!-- ent"), page.parent)))


# Every filter's page, in this order; what it explains besides stands between guarantees and figures.
SHAPE = ["Layout", "When to take it", "Options", "Guarantees", "Figures"]


def misshapen(page):
    """What a page of docs/filters lacks."""
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    wrong = [] if [h for h in headings if h in SHAPE] == SHAPE else [f"has not, in order, {', '.join(SHAPE)}"]
    if headings[:4] != SHAPE[:4] or headings[-1:] != SHAPE[-1:]:
        wrong.append("has something else before or behind them")
    if not re.match(r"# .+\n\n(?!#)\S", page):
        wrong.append("does not begin with the idea")
    if "```text" not in page.partition("## Layout")[2].partition("## When")[0]:
        wrong.append("has no drawing")
    return wrong


class Filters(unittest.TestCase):
    def test_pages_have_one_shape(self):
        for page in sorted((ROOT / "docs" / "filters").glob("*.md")):
            if not page.stem.startswith("evergreen"):  # essays of their own
                with self.subTest(page=page.name):
                    self.assertEqual(misshapen(page.read_text()), [])

    def test_every_filter_has_a_page(self):
        ids = re.findall(r'\.id = "([a-z0-9-]+)"', "".join(p.read_text() for p in (ROOT / "include/tamis/filters").glob("*.hpp")))
        titles = " ".join(p.read_text().split("\n")[0] for p in (ROOT / "docs" / "filters").glob("*.md"))
        self.assertGreater(len(ids), 20)
        for each in ids:
            with self.subTest(each):
                self.assertRegex(titles, rf"(?<![\w-]){each}(?![\w-])")

    def test_another_shape_is_seen(self):
        good = "# x\n\nAn idea.\n\n" + "".join(f"## {h}\n\n```text\n```\n\n" for h in SHAPE)
        self.assertEqual(misshapen(good), [])
        self.assertEqual(len(misshapen(good.replace("## Options", "## Choices"))), 2)
        self.assertEqual(len(misshapen(good + "## More\n")), 1)
        self.assertEqual(len(misshapen(good.replace("An idea.\n\n", ""))), 1)
        self.assertEqual(len(misshapen(good.replace("```text", "```", 1))), 1)


def too_long(text):
    """Lines of prose with more than 100 characters: code, tables, pictures and marks may have more."""
    prose = re.sub(r"^( *)(```|~~~).*?^\1\2[ ]*$", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return [line for line in prose.split("\n") if len(line) > 100 and not line.startswith(("|", "!", "<"))]


class Prose(unittest.TestCase):
    def test_lines_are_short(self):
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.md"], check=True, capture_output=True, text=True).stdout.split()
        self.assertGreater(len(listed), 50)
        for name in listed:
            if (ROOT / name).exists():
                with self.subTest(page=name):
                    self.assertEqual(too_long((ROOT / name).read_text()), [])

    def test_long_lines_are_seen(self):
        self.assertEqual(len(too_long("a" * 101 + "\n```\n" + "b" * 101 + "\n```\n| " + "c" * 101 + "\n" + "d" * 101)), 2)


if __name__ == "__main__":
    unittest.main()
