"""Writes what the pages of docs/filters say in figures: filter_pages.py ROOT [--check]. Needs the Python module of the build.

A page names its filters in its title. Between its marks it gets their options, as the library describes them, and a table of what
they take and promise: made for 100,000 keys, filled, and asked for a million others. No clock is read, so every machine writes the
same text; --check compares it with what stands there, and tests/docs runs that."""

import array
import pathlib
import re
import sys
import textwrap

import tamis

KEYS, OTHERS, RATES = 100_000, 1_000_000, (0.01, 0.001, 0.0001)
MARKED = re.compile(r"(<!-- (options|figures): written by tools/filter_pages\.py, not by hand -->\n).*?(<!-- /\2 -->)", re.DOTALL)
ABOUT = {about["id"]: about for about in tamis.kinds()}
LISTED = ["bloom1+mistakes", "ascf+mistakes"]  # the page of the option `mistakes`


def filters_of(page):
    title = re.match(r"# (.*)", page).group(1)
    return LISTED if "`mistakes`" in title else title.split(", ")


def options(ids):
    """A row per option; one that only some of the page's filters have says which."""
    rows = {}
    for each in ids:
        for option in ABOUT[each]["options"]:
            if option["name"] != "mistakes":
                key = (option["name"], option["values"], option["default"], option["meaning"])
                rows.setdefault(key, []).append(each)
    out = ["| option | values | default | |", "| --- | --- | --- | --- |"]
    for (name, values, default, text), having in rows.items():
        only = "" if len(having) == len(ids) else f"`{'`, `'.join(having)}` only: "
        out.append(f"| `{name}` | {values} | {default} | {only}{text} |")
    return "\n".join(out) + "\n\nEvery filter also has [`mistakes`](mistakes.md).\n"


def per_cent(share):
    return f"{100 * share:.3g} %"


def keys_from(first, count):
    return array.array("Q", range(first, first + count))


def refused_at(kind, rate):
    """How many keys a filter made for KEYS takes before it refuses one, as a share; none up to three times as many: None."""
    full = tamis.Filter(kind, KEYS, fpr=rate)
    step = KEYS // 100
    for first in range(0, 3 * KEYS, step):
        try:
            full.update(keys_from(first, step))
        except tamis.Full:
            return (first + step) / KEYS
    return None


def measured(kind, rate):
    made = tamis.Filter(kind, KEYS, fpr=rate)
    members = keys_from(0, KEYS)
    made.update(members)
    fast, slow = (bits / KEYS for bits in made.bits)
    others = keys_from(1 << 40, OTHERS)
    wrong = array.array("Q", [key for key, maybe in zip(others, made.contains_many(others)) if maybe])
    left = ""
    if "adapt" in made.can:
        stored = tamis.Remote(made)
        stored.update(members)
        made.adapt(wrong, stored)
        left = per_cent(sum(map(bool, made.contains_many(wrong))) / len(wrong)) if wrong else "none"
    if not all(made.contains_many(members)):
        raise SystemExit(f"{kind} lost a key")
    at = refused_at(kind, rate)
    return [f"{fast:.2f}", f"{slow:.0f}" if slow else "", per_cent(len(wrong) / OTHERS), left, f"{at:.2f}" if at else "never"]


def figures(ids):
    rows = [(each, rate, *measured(each, rate)) for each in ids for rate in RATES]
    titles = ["filter", "asked for", "bits per key", "in slow memory", "measured", "mistakes left", "refuses at"]
    keep = [i for i in range(len(titles)) if any(row[i] for row in rows)]
    out = ["| " + " | ".join(titles[i] for i in keep) + " |", "| " + " | ".join("---" for _ in keep) + " |"]
    for row in rows:
        cells = [f"`{row[0]}`", per_cent(row[1]), *row[2:]]
        out.append("| " + " | ".join(cells[i] for i in keep) + " |")
    said = "Made for 100,000 keys and filled with them; then a million other keys were asked for."
    if "mistakes left" in [titles[i] for i in keep]:
        said += " *Mistakes left*: of the wrong answers, which it was told of, how many it gives again."
    said += " *Refuses at*: how many times its capacity it holds before it refuses a key; up to three were tried."
    return "\n".join(out) + "\n\n" + textwrap.fill(said, 100) + "\n"


def written(page):
    ids = filters_of(page)
    return MARKED.sub(lambda m: m.group(1) + (options if m.group(2) == "options" else figures)(ids) + m.group(3), page)


def main():
    root, check = pathlib.Path(sys.argv[1]), "--check" in sys.argv
    wrong = []
    for path in sorted((root / "docs" / "filters").glob("*.md")):
        page = path.read_text()
        if not MARKED.search(page):
            continue
        new = written(page)
        if new != page and check:
            wrong.append(f"{path.name}: {next((l for l in new.splitlines() if l not in page.splitlines()), '')}")
        elif new != page:
            path.write_text(new)
    if wrong:
        sys.exit("write them again: ./run python tools/filter_pages.py .\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
