"""Builds the site from docs/: build.py ROOT OUT. `./run docs` calls it.

Stages the pages in OUT/pages, so that links which leave docs/ lead somewhere: to the project's own pages, to a file's source, or
to the list of a folder. Adds the reference (reference.py) and the navigation, and runs mkdocs in strict mode into OUT/site."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import demo  # noqa: E402
import reference  # noqa: E402

PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "THIRD_PARTY.md", "LICENSE"]
# Title, and what stands in it: pages, or a folder whose other pages follow by name. What is named nowhere goes into "Use".
SECTIONS = [
    ("Start", ["README.md", "tutorial.md", "choosing.md"]),
    ("Use", ["tool.md", "advise.md", "replay.md", "reproduce.md", "guarded-store.md", "redis.md", "python.md", "c.md", "format.md"]),
    ("Filters", ["filters/"]),
    ("Inside", ["architecture.md", "trust.md", "internals/", "decisions/"]),
    ("Measured", ["results/", "tuning/"]),
    ("Reference", ["reference/"]),
    ("Project", ["project/"]),
]
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
DEMO = "<!-- demo -->"
HIGHLIGHTS = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".py": "python", ".md": "markdown", ".txt": "text", ".cmake": "cmake", "": "bash"}


class Stage:
    """The pages as mkdocs gets them."""

    def __init__(self, root, out):
        self.root, self.docs, self.pages = root, root / "docs", out / "pages"
        self.sources = set()

    def place_of(self, path):
        """Where a file of the project stands on the site, relative to its first page."""
        if path == self.root / "README.md":
            return pathlib.PurePosixPath("README.md")
        if path.is_relative_to(self.docs):
            if path.is_dir() and (path / "README.md").exists():
                path = path / "README.md"
            if not path.is_dir():
                return pathlib.PurePosixPath(path.relative_to(self.docs).as_posix())
        name = path.relative_to(self.root).as_posix()
        if name in PROJECT:
            return pathlib.PurePosixPath("project") / (name if name.endswith(".md") else name + ".md")
        self.sources.add(path)
        return pathlib.PurePosixPath("source") / (name + ".md")

    def link(self, source, place, target):
        """What `target`, in the file `source`, is on the page at `place`."""
        if re.match(r"^([a-z]+:|#)", target):
            return target
        name, mark, anchor = target.partition("#")
        path = pathlib.Path(os.path.normpath(source.parent / name))
        if not path.exists() or not path.is_relative_to(self.root):
            raise SystemExit(f"site: {source.relative_to(self.root)}: no such file: {target}")
        return os.path.relpath(self.place_of(path), place.parent) + mark + anchor

    def rewrite(self, source, place, text):
        out, fenced = [], False
        previous = ""
        for line in text.split("\n"):
            fence = re.match(r"^\s*(```|~~~)", line)
            if fence:
                fenced = not fenced
            elif not fenced:
                # A list right behind a paragraph: GitHub starts it, Python-Markdown wants an empty line.
                if re.match(r"^([-*]|\d+\.) ", line) and previous.strip() and not re.match(r"^(\s|[-*] |\d+\. |#|\|)", previous):
                    out.append("")
            out.append(line)
            previous = line
        text = "\n".join(out)
        # Links may run over the end of a line, so they are looked for in everything that is not code.
        pieces = re.split(r"((?m:^[ ]*```)[\s\S]*?(?m:^[ ]*```[ ]*$)|`[^`\n]+`(?!\]))", text)
        return "".join(p if p.startswith("`") or p.lstrip().startswith("```") else
                       LINK.sub(lambda m: m.group(1) + self.link(source, place, m.group(2)) + m.group(3), p) for p in pieces)

    def write(self, place, text):
        path = self.pages / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, source):
        place = self.place_of(source)
        text = source.read_text()
        if source.suffix != ".md":
            text = f"# {source.name}\n\n```text\n{text}```\n"
        self.write(place, self.rewrite(source, place, text))

    def source_pages(self):
        done = set()
        while self.sources - done:
            path = min(self.sources - done)
            done.add(path)
            name = path.relative_to(self.root).as_posix()
            place = pathlib.PurePosixPath("source") / (name + ".md")
            if path.is_dir():
                files = sorted(p for p in path.iterdir() if p.is_file())
                rows = [f"- [{p.name}]({os.path.relpath(self.place_of(p), place.parent)})" for p in files]
                self.write(place, f"# {name}\n\n" + "\n".join(rows) + "\n")
            else:
                self.write(place, f"# {name}\n\n```{HIGHLIGHTS.get(path.suffix, 'text')}\n{path.read_text()}```\n")

    def everything(self, work):
        for path in sorted(self.docs.rglob("*")):
            if path.suffix == ".md":
                self.page(path)
            elif path.is_file():
                target = self.pages / path.relative_to(self.docs)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        for name in PROJECT:
            self.page(self.root / name)
        for path, _, text in reference.pages(self.root, work):
            self.write(pathlib.PurePosixPath("reference") / path, text)
        self.source_pages()
        assets = self.pages / "assets"
        assets.mkdir(exist_ok=True)
        shutil.copyfile(HERE / "site.css", assets / "site.css")
        self.add_demo(assets)

    def add_demo(self, assets):
        """Below the pictures of the first page. Without Emscripten there are the pictures."""
        made = demo.script(self.root, self.root / "build" / "demo")
        first = self.pages / "README.md"
        part = ""
        if made:
            part = (HERE / "demo" / "demo.html").read_text() + '<script src="assets/tamis.js"></script>\n<script src="assets/demo.js"></script>\n'
            shutil.copyfile(made, assets / "tamis.js")
            shutil.copyfile(HERE / "demo" / "demo.js", assets / "demo.js")
        text = first.read_text()
        if DEMO not in text:
            raise SystemExit(f"site: docs/README.md has no place for the demo: {DEMO}")
        first.write_text(text.replace(DEMO, part))


def title_of(page):
    """The first heading for the list of pages; of a long one what stands before the colon."""
    found = re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)
    title = re.sub(r"[`\\]", "", found.group(1)) if found else page.stem
    title = re.sub(r"^(\w+): \1: ", r"\1: ", title)
    return title if len(title) < 45 else re.split(r"[:,] ", title)[0]


def folder_entries(pages, folder):
    here = pages / folder
    own = sorted(p for p in here.glob("*.md") if p.name != "README.md")
    if folder == "reference/":
        def rank(p):
            return (p.stem.split("-")[0] in ("filters", "guard"), p.stem)
        own = sorted(own, key=rank)
    entries = [folder + "README.md"] if (here / "README.md").exists() else []
    entries += [{title_of(p): p.relative_to(pages).as_posix()} for p in own]
    for below in sorted(p for p in here.iterdir() if p.is_dir() and list(p.glob("*.md"))):
        entries.append({below.name: folder_entries(pages, below.relative_to(pages).as_posix() + "/")})
    return entries


def navigation(pages):
    named = {name for _, names in SECTIONS for name in names}
    nav = []
    for title, names in SECTIONS:
        entries = []
        if title == "Use":
            names = names + sorted(p.name for p in pages.glob("*.md") if p.name not in named)
        for name in names:
            if name.endswith("/"):
                if (pages / name).is_dir():
                    inside = folder_entries(pages, name)
                    entries += inside if len(names) == 1 else [{name.strip("/").capitalize(): inside}]
            elif (pages / name).exists():
                entries.append({title_of(pages / name): name})
        if entries:
            nav.append({title: entries})
    return nav


def main():
    root, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    stage = Stage(root, out)
    stage.everything(out / "work")
    config = (HERE / "mkdocs.yml").read_text()
    for name, value in {"nav": navigation(stage.pages), "docs_dir": str(stage.pages), "site_dir": str(out / "site")}.items():
        config += f"{name}: {json.dumps(value, ensure_ascii=False)}\n"  # which is YAML, too
    (out / "mkdocs.yml").write_text(config)
    done = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", str(out / "mkdocs.yml")],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"site: mkdocs failed\n{done.stdout}{done.stderr}")
    sitemap = out / "site" / "sitemap.xml"
    for unneeded in (sitemap, sitemap.with_suffix(".xml.gz")):
        unneeded.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
