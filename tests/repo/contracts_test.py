"""Every public function has its contract in the headers: what it does, needs and promises. Read from what Doxygen finds, as the
reference of the site is (tools/site/reference.py).

A function has one if a comment stands before or behind its declaration; if it stands in a group, right below one that has; if it is
another form of one of the same name in its class; if it overrides one; if the essay at the top of its header lists it ("  name   what it
does"), or for filters that of concepts.hpp; or if its class says where: "Contracts: detail/room/file.hpp"."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tools" / "site"))
sys.dont_write_bytecode = True
import reference  # noqa: E402

SKIPPED = 77  # for ctest
ORDINARY = re.compile(r"^(~\w+|operator(=|==|\*|->| bool)|swap|begin|end)$")  # mean what they mean everywhere


def listed(header):
    """The functions whose contract stands in the essay of a header."""
    text = reference.essay(header.read_text())
    return {name for names in re.findall(r"^  (\w+(?:, \w+)*)  +\S", text, re.MULTILINE) for name in names.split(", ")}


def known_in(include, header):
    filters = listed(ROOT / "include/tamis/concepts.hpp") if header.startswith("tamis/filters/") else set()
    return listed(include / header) | filters


def stand_elsewhere(include, compound):
    """Are the contracts of a class in another header, as its comment says?"""
    found = re.search(r"Contracts: ([\w/]+\.hpp)", reference.said(compound))
    return bool(found) and (include / "tamis" / found.group(1)).exists()


def is_ordinary(owner, function):
    name, arguments = function.findtext("name"), function.findtext("argsstring") or ""
    copies = name == owner and re.match(rf"\((|(const )?{owner} ?&&?.*)\)", arguments)
    return bool(copies or ORDINARY.match(name) or arguments.endswith(("=default", "=delete")) or " override" in arguments)


def lacking(owner, members, lines, known):
    """The signatures of those without a contract, among the members of a class or the free ones of a header; `lines` is the header as
    Doxygen got it."""
    covered, found, above, end = set(known), [], False, -1
    for member in sorted(members, key=lambda m: int(m.find("location").get("line"))):
        at = member.find("location")
        line = int(at.get("line"))
        gap = end < 0 or any(not text.strip() for text in lines[end:line - 1])
        above = bool(reference.said(member)) or (above and not gap)
        end = max(line, int(at.get("bodyend") or 0))
        if member.get("kind") != "function" or member.get("prot") != "public":
            continue
        if above:
            covered.add(member.findtext("name"))
        found.append((member, above))
    return [reference.signature(m).replace("\n", " ") for m, has in found
            if not has and m.findtext("name") not in covered and not is_ordinary(owner, m)]


def headers_without(root):
    """{header: [signature, …]} of the functions without a contract, and how many functions there are."""
    every, count = {}, 0
    with tempfile.TemporaryDirectory() as work:
        for file in sorted(reference.run_doxygen(root, pathlib.Path(work)).glob("*.xml")):
            compound = xml.parse(file).getroot().find("compounddef")
            kind = "" if compound is None else compound.get("kind")
            if kind not in ("class", "struct", "file", "namespace") or compound.get("prot", "public") != "public":
                continue
            name = compound.findtext("compoundname")
            if re.search(r"(^|::)(detail|@\d+)", name) or stand_elsewhere(root / "include", compound):
                continue
            by_header = {}
            for member in compound.iter("memberdef"):
                by_header.setdefault(member.find("location").get("file"), []).append(member)
            for header, members in by_header.items():
                lines = (pathlib.Path(work) / "headers" / header).read_text().splitlines()
                owner = re.sub(r"<.*", "", name).split("::")[-1]
                count += sum(m.get("kind") == "function" for m in members)
                if without := lacking(owner, members, lines, known_in(root / "include", header)):
                    every.setdefault(header, []).extend(f for f in without if f not in every.get(header, []))
    return every, count


class Contracts(unittest.TestCase):
    def test_every_public_function_has_one(self):
        every, count = headers_without(ROOT)
        self.assertGreater(count, 700)
        for header, functions in sorted(every.items()):
            with self.subTest(header):
                self.assertEqual(functions, [])

    def test_filters_share_theirs(self):
        self.assertLessEqual({"insert", "erase", "adapt", "prefetch", "prefetch_insert", "validate"},
                             listed(ROOT / "include/tamis/concepts.hpp"))

    def test_a_function_without_one_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder, "include", "tamis", "x.hpp")
            header.parent.mkdir(parents=True)
            header.write_text("""#pragma once

// A class.
//
//   told   what it does

namespace tamis {
class thing {
 public:
  thing(const thing& other);
  explicit thing(int size);

  // Says how large it is.
  int size() const;
  int size_in_bytes() const { return 0; }

  int bare() const;
  int told() const;

  int said() const;  // in so many words

 private:
  int hidden();
};
// Contracts: y.hpp, which does not exist
class other {
 public:
  int nowhere();
};
int free_one();
}  // namespace tamis
""")
            every, _ = headers_without(pathlib.Path(folder))
        self.assertEqual(list(every), ["tamis/x.hpp"])
        self.assertEqual(set(every["tamis/x.hpp"]), {"explicit thing(int size);", "int bare() const;", "int nowhere();", "int free_one();"})


if __name__ == "__main__":
    if shutil.which("doxygen") is None:
        print("contracts: Doxygen is not installed; ./setup check installs it")
        sys.exit(1 if shutil.which("apt-get") else SKIPPED)
    unittest.main()
