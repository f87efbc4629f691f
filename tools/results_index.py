"""Writes the table of docs/results/README.md from the pages beside it: results_index.py ROOT. A test compares."""

import pathlib
import re
import sys

MARKED = re.compile(r"(<!-- index: written by tools/results_index\.py, not by hand -->\n).*?(<!-- /index -->)", re.DOTALL)
PAPERS = {"taf": "TAF, ESA 2021", "abf": "ABF, TNSM 2022", "ascf": "ASCF, IWQoS 2020", "acf": "ACF, WADS 2021",
          "infini": "InfiniFilter, SIGMOD 2023"}
VERDICTS = ["agrees", "differs", "cannot be tested here"]


def row(name, page):
    """A page's row: what it shows, how many verdicts there are of each kind, and where and when it was measured."""
    title = re.search(rf"^# {name}: (?:{name.split('-')[0]}: )?(.+)$", page, re.MULTILINE).group(1)
    counts = [len(re.findall(rf"^\| \*\*{v}\*\* \|", page, re.MULTILINE)) for v in VERDICTS]
    scale = re.search(r"--scale (\w+)", page)
    made = re.search(r"runs? in [^;]*; ([^;]+); commit (\w+); (20\d\d-\d\d-\d\d)", " ".join(page.split()))
    paper = PAPERS.get(name.split("-")[0], "ours")
    return (f"| [{name}]({name}.md) | {title} | {paper} | {' / '.join(map(str, counts))} | {scale.group(1) if scale else 'quick'} | "
            f"{made.group(1)}, {made.group(2)}, {made.group(3)} |")


def written(root):
    folder = root / "docs" / "results"
    readme = (folder / "README.md").read_text()
    pages = sorted(p for p in folder.glob("*.md") if p.stem != "README")
    pages.sort(key=lambda p: p.stem.split("-")[0] in PAPERS)  # ours first
    rows = ["| page | what it shows | of | agrees / differs / open | scale | machine, commit, date |", "| --- | --- | --- | --- | --- | --- |"]
    rows += [row(p.stem, p.read_text()) for p in pages]
    return MARKED.sub(lambda m: m.group(1) + "\n".join(rows) + "\n" + m.group(2), readme)


if __name__ == "__main__":
    at = pathlib.Path(sys.argv[1])
    (at / "docs" / "results" / "README.md").write_text(written(at))
