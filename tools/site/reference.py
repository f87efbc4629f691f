"""The API reference: Doxygen reads the public headers, and every header becomes a page of Markdown.

Comments of the headers are plain text, not Doxygen's. So a copy of each header is given to Doxygen in which the comment before a
declaration, or behind it, is one verbatim block; what comes back is the same text at the right declaration."""

import pathlib
import re
import subprocess
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
COMMENT = re.compile(r"^(\s*)//(?!/) ?(.*)$")
TRAILING = re.compile(r"^(.*\S)\s\s+//\s(.*)$")
OLD_BLOCK = re.compile(r"/\*(?![*!])((?:(?!\*/).)*)\*/", re.DOTALL)
SILENT = re.compile(r"^(NOLINT|namespace|clang-format|defined\b)")


def public_headers(root):
    """The headers that users include, in the order of the reference."""
    of = root / "include" / "tamis"
    first = ["tamis", "key_filter", "any_filter", "concepts", "params", "options", "result", "hasher", "digest", "key_parts", "key_batch",
             "batch", "registry", "mapped", "remote", "memory_remote", "memory", "stream", "cpu"]
    top = sorted(of.glob("*.hpp"), key=lambda h: (first.index(h.stem) if h.stem in first else len(first), h.stem))
    folders = [h for folder in sorted(p for p in of.iterdir() if p.is_dir() and p.name != "detail") for h in sorted(folder.glob("*.hpp"))]
    return [h for h in top + folders if not h.stem.endswith("-inl")] + sorted(of.glob("*.h"))


def essay(text):
    """What a header says of itself: the comment behind `#pragma once` or the include guard."""
    lines = text.splitlines()
    if lines and lines[0].startswith("#pragma once"):
        said = []
        for line in lines[1:]:
            found = COMMENT.match(line)
            if found:
                said.append(found.group(2))
            elif line.strip() or said:
                break
        return "\n".join(said)
    found = OLD_BLOCK.search(text)
    return re.sub(r"(?m)^ ?\* ?", "", found.group(1)).strip() if found else ""


def verbatim(lines, mark=""):
    text = "\n".join(lines).replace("*/", "* /")
    return f"/**{mark} \\verbatim\n{text}\n\\endverbatim */"


def with_doxygen_comments(text):
    """Line comments and C comments as verbatim blocks. Line numbers change: nobody needs them."""
    if not text.startswith("#pragma once"):
        def block(found):
            before = text[text.rfind("\n", 0, found.start()) + 1:found.start()]
            lines = [re.sub(r"^\s*\* ?", "", line) for line in found.group(1).strip().splitlines()]
            return verbatim(lines, "<" if before.strip() else "")
        return OLD_BLOCK.sub(block, text)
    out, block = [], []
    for line in text.replace("::inline TAMIS_LEVEL", "").splitlines() + [""]:
        found = COMMENT.match(line)
        if found:
            if not SILENT.match(found.group(2)):
                block.append(found.group(2))
            continue
        if block and line.strip() and not line.startswith("#"):
            out.append(verbatim(block))
        block = []
        trailing = TRAILING.match(line)
        if trailing and trailing.group(1)[-1] in ";,}" and not SILENT.match(trailing.group(2)):
            out += [trailing.group(1), verbatim([trailing.group(2)], "<")]
        else:
            out.append(line)
    return "\n".join(out) + "\n"


def run_doxygen(root, work):
    """{header: [compound, …]}: what Doxygen found, by header."""
    source, target = work / "headers", work / "doxygen"
    for header in public_headers(root):
        copy = source / header.relative_to(root / "include")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(with_doxygen_comments(header.read_text()))
    target.mkdir(parents=True, exist_ok=True)
    config = (HERE / "Doxyfile").read_text() + f"\nRECURSIVE = YES\nINPUT = {source}\nSTRIP_FROM_PATH = {source}\nOUTPUT_DIRECTORY = {target}\n"
    subprocess.run(["doxygen", "-"], input=config, text=True, check=True, capture_output=True)
    return target / "xml"


def flat(node):
    return "" if node is None else re.sub(r"\s+", " ", "".join(node.itertext())).strip()


def said(node):
    """The comment of a member or compound, as it stands in the header."""
    parts = [v.text or "" for part in ("briefdescription", "detaileddescription") for v in node.findall(f"./{part}//verbatim")]
    return "\n".join(p.strip("\n") for p in parts)


def tidy(code):
    code = re.sub(r"\s+([,)>&*])", r"\1", code)
    code = re.sub(r"([(<])\s+", r"\1", code)
    code = re.sub(r"([&*])(?=[\w.])", r"\1 ", code.replace("tamis::", "").replace(" &", "&"))
    code = re.sub(r"(?<![=<>!])\s*=\s*(?!=)", " = ", code)
    return re.sub(r"operator\s*=\s*", "operator=", code).strip()


def template_of(node):
    parameters = node.find("templateparamlist")
    if parameters is None:
        return ""
    listed = []
    for p in parameters.findall("param"):
        name = p.findtext("declname") or ""
        default = flat(p.find("defval"))
        listed.append((flat(p.find("type")) + (" " + name if name else "") + (" = " + default if default else "")).strip())
    requires = flat(node.find("requiresclause"))
    return f"template <{tidy(', '.join(listed))}>\n" + (f"  requires {tidy(requires)}\n" if requires else "")


def signature(member):
    kind, name = member.get("kind"), member.findtext("name")
    if kind == "enum":
        values = [v.findtext("name") for v in member.findall("enumvalue")]
        head = "enum class" if member.get("strong") == "yes" else "enum"
        return f"{head} {name}".rstrip() + " { " + ", ".join(values) + " };"
    definition = tidy(member.findtext("definition") or name)
    if kind == "define":
        parameters = [p.findtext("defname") or "" for p in member.findall("param")]
        return f"#define {name}" + (f"({', '.join(parameters)})" if parameters else "")
    owner = re.sub(r"<.*", "", definition.rsplit(" ", 1)[-1].rpartition("::")[0])
    if owner:
        definition = re.sub(r"\b[\w:]*(?:<[^()]*>)?::(?=(?:operator|~|\w)[^:]*$)", "", definition)
    for word in ("constexpr", "static", "explicit", "virtual"):
        present = member.get({"constexpr": "constexpr", "static": "static", "explicit": "explicit", "virtual": "virt"}[word])
        if present in ("yes", "virtual", "pure-virtual") and not re.match(rf"(\w+ )*{word}\b", definition):
            definition = f"{word} {definition}"
    definition = re.sub(r"^using (?:[\w:]+::)?(\w+) = (?:typedef )?", r"using \1 = ", definition)
    arguments = tidy(member.findtext("argsstring") or "")
    if definition.endswith(arguments):
        arguments = ""
    value = flat(member.find("initializer")) if kind == "variable" else ""
    value = f" {tidy(value)}" if value and len(value) < 60 else " = …" if value.startswith("=") else ""
    return template_of(member) + definition + arguments + value + ";"


def fold(code, width=92):
    """Breaks a long declaration between its arguments, as clang-format does."""
    lines = []
    for line in code.splitlines():
        indent = " " * (line.find("(") + 1 if 0 <= line.find("(") < 50 else 4)
        while len(line) > width and ", " in line[len(indent):width]:
            at = line.rfind(", ", len(indent), width)
            lines.append(line[:at + 1])
            line = indent + line[at + 2:]
        lines.append(line)
    return "\n".join(lines)


def prose(text):
    """A comment as Markdown: paragraphs, and drawings or tables as they stand."""
    out, drawn = [], False
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        if listed := as_list(lines):
            out.append(listed)
            continue
        drawing = any(re.search(r"[│┌└─▼▲►]|\S   +\S", line) or line.startswith("  ") for line in lines)
        if drawing:
            head = []
            while lines and not (lines[0].startswith("  ") or re.search(r"[│┌└─▼▲►]|\S   +\S", lines[0])):
                head.append(lines.pop(0))
            if head:
                out.append(escaped(" ".join(head)))
            out.append("```text\n" + "\n".join(lines) + "\n```")
        elif lines:
            out.append(escaped(" ".join(line.strip() for line in lines)))
    return "\n\n".join(out)


IDENTIFIER = re.compile(r"(`[^`]*`)|(?<![\w/.])([a-z]\w*(?:_\w+)+(?:\(\))?|\w+\(\))(?![\w/])")


def as_list(lines):
    """Lines like "  name   what it is", or "" where they are something else."""
    lines, head = list(lines), []
    while lines and not lines[0].startswith("  "):
        head.append(lines.pop(0))
    items = []
    for line in lines:
        found = re.match(r"^  (\S[\w():]*(?:, \w+)*)\s\s+(\S.*)$", line)
        if found:
            items.append([found.group(1), found.group(2)])
        elif items and line.startswith("      "):
            items[-1][1] += " " + line.strip()
        elif items and line.startswith("  ") and not re.match(r"^  \S+   ", line):
            items[-1][1] += " " + line.strip()
        else:
            return ""
    if len(items) < 2 or any(re.search(r"[│┌└─▼▲►]| \| ", text) for _, text in items):
        return ""
    return "\n".join([escaped(" ".join(head)), ""] * bool(head) + [f"- `{name}`: {escaped(text)}" for name, text in items])


def escaped(text):
    text = IDENTIFIER.sub(lambda m: m.group(1) or f"`{m.group(2)}`", text)
    pieces = re.split(r"(`[^`]*`)", text)
    safe = [p if p.startswith("`") else re.sub(r"([\\*<>\[\]{}#|])", r"\\\1", p) for p in pieces]
    text = "".join(safe)
    text = re.sub(r"^(\d+)\. ", r"\1\\. ", text)
    return re.sub(r"\b(Requires|Ensures):", r"**\1:**", text)


def members_of(compound):
    for section in compound.findall("sectiondef"):
        if not section.get("kind", "").startswith("private"):
            for member in section.findall("memberdef"):
                if member.get("prot", "public") == "public":
                    yield member


def members_text(members):
    """Declarations in the order of the header; those that share a comment share a block."""
    out, open_block = [], []

    def close():
        if open_block:
            out.append("```cpp\n" + "\n".join(open_block) + "\n```")
            open_block.clear()
    for member in members:
        if member.get("kind") == "friend" or (member.findtext("argsstring") or "").endswith(("=default", "=delete")):
            continue
        comment = said(member)
        if comment:
            close()
        open_block.append(fold(signature(member)))
        if comment:
            close()
            out.append(prose(comment))
        if member.get("kind") == "enum":
            told = [(v.findtext("name"), said(v)) for v in member.findall("enumvalue")]
            if any(text for _, text in told):
                close()
                out.append("\n".join(f"- `{value}`: {escaped(' '.join(text.split()))}" for value, text in told if text))
    close()
    return "\n\n".join(out)


def load(folder, refid):
    return xml.parse(folder / f"{refid}.xml").getroot().find("compounddef")


def pages(root, work):
    """[(path below reference/, title, text)], one for each public header, and the index first."""
    folder = run_doxygen(root, work)
    index = xml.parse(folder / "index.xml").getroot()
    compounds, functions = {}, {}
    for entry in index.findall("compound"):
        if entry.get("kind") in ("class", "struct", "union", "concept", "namespace", "file"):
            compound = load(folder, entry.get("refid"))
            name = compound.findtext("compoundname")
            if re.search(r"(^|::)(detail|@\d+)", name):
                continue
            if entry.get("kind") in ("namespace", "file"):
                for member in members_of(compound):
                    at = member.find("location").get("file")
                    functions.setdefault(at, {})[member.get("id")] = member
            elif compound.get("prot", "public") == "public" and ("::" not in name.replace("tamis::", "", 1) or said(compound)):
                compounds.setdefault(compound.find("location").get("file"), []).append(compound)
    rows, made = [], []
    for header in public_headers(root):
        name = str(header.relative_to(root / "include"))
        text = essay(header.read_text())
        out = [f"# {name}", f"```cpp\n#include <{name}>\n```"]
        if text:
            out.append(prose(text))
        parts = []
        for compound in compounds.get(name, []):
            line = int(compound.find("location").get("line"))
            parts.append((line, compound_text(compound)))
        free = sorted(functions.get(name, {}).values(), key=lambda m: int(m.find("location").get("line")))
        free = [m for m in free if (m.findtext("name") or "").upper() != "TAMIS_" + name.upper()]
        out += [text for _, text in sorted(parts, key=lambda p: p[0])]
        free_text = members_text([m for m in free if not (m.findtext("name") or "").endswith(("_H", "_"))])
        if free_text:
            out.append(("## Functions and types\n\n" if parts else "## Declarations\n\n") + free_text)
        path = name.replace("tamis/", "", 1).replace("/", "-").replace(".hpp", "").replace(".h", "-c") + ".md"
        made.append((path, name.replace("tamis/", "", 1), "\n\n".join(out) + "\n"))
        first = re.split(r"(?<=[.:;])\s", " ".join(text.split("\n\n")[0].split()), maxsplit=1)[0].rstrip(":;")
        rows.append(f"| [`{name}`]({path}) | {escaped(first)} |")
    head = ("# Reference\n\nEvery public header of the library, as its comments say it. Whoever wants everything includes "
            "`tamis/tamis.hpp`;\n`detail/` is installed, and nothing is promised about it.\n\n| header | what it has |\n| --- | --- |\n")
    return [("README.md", "Reference", head + "\n".join(rows) + "\n")] + made


def compound_text(compound):
    kind = compound.get("kind")
    name = compound.findtext("compoundname").replace("tamis::", "")
    out = [f"## {kind} {name}".replace("<", "\\<")]
    if kind == "concept":
        code = tidy(flat(compound.find("initializer")))
        code = code.replace("template<", "template <").replace(">concept", ">\nconcept").replace("> concept", ">\nconcept")
        code = re.sub(r"\{ \{", "{\n  {", re.sub(r";\s*(?=\{)", ";\n  ", code)).replace("; }", ";\n}")
        out.append(f"```cpp\n{code.rstrip(';')};\n```")
    else:
        template = template_of(compound)
        bases = [tidy(flat(b)) for b in compound.findall("basecompoundref") if "detail" not in flat(b)]
        out.append(f"```cpp\n{template}{kind} {name}{' : public ' + ', '.join(bases) if bases else ''};\n```")
    comment = said(compound)
    if comment:
        out.append(prose(comment))
    text = members_text(members_of(compound))
    if text:
        out.append(text)
    return "\n\n".join(out)
