"""What tamis takes of its users' names, and one habit that loses keys.

The public namespace is what stands in `namespace tamis` of a public header, outside `detail`. Its names are listed in public_names.txt:
a name more is a promise more, so it is added there by hand. None is a word that a program which uses tamis would want for itself."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
HEADERS = ROOT / "include" / "tamis"
LIST = pathlib.Path(__file__).resolve().parent / "public_names.txt"
WANTED_BY_USERS = {"filter", "error", "reader", "writer", "model", "rank", "select", "hash", "key", "keys", "value", "options", "batch", "set",
                   "map", "list", "table", "view", "range", "run", "slot", "block", "bits", "memory", "string", "bytes", "buffer", "stream",
                   "file", "index", "node", "entry", "iterator", "cache", "query", "server", "client", "config", "status_code", "optional"}
NAMESPACE = re.compile(r"^namespace tamis(::inline TAMIS_LEVEL)? \{$")
TYPE = re.compile(r"^(?:template <.*> ?)?(?:requires.*\) ?)?(?:class|struct|enum class|enum|concept|using)\s+(?:\[\[\w+\]\]\s+)?(\w+)")
CONCEPT = re.compile(r"^concept (\w+)")
CONSTANT = re.compile(r"^(?:inline )?constexpr [\w:<> ]+?\s(\w+)(?:\[\])?(?:\{| =)")
FUNCTION = re.compile(r"^(?:(?:inline|constexpr|template <.*>|TAMIS_INLINE|\[\[\w+\]\]) )*[\w:<>&*,\[\] ]+?[ &*](\w+)\(")


def public_headers():
    return sorted(path for path in HEADERS.rglob("*.hpp") if "detail" not in path.relative_to(HEADERS).parts)


def names_in(text):
    """Declarations at the first column inside the namespace; the format test keeps them there."""
    found, inside = set(), False
    for line in text.splitlines():
        if NAMESPACE.match(line):
            inside = True
        elif line.startswith("}  // namespace tamis"):
            inside = False
        elif inside and line and not line[0].isspace() and not line.startswith(("//", "#", "}", ")", "static_assert", "namespace", "extern")):
            match = CONCEPT.match(line) or TYPE.match(line) or CONSTANT.match(line) or FUNCTION.match(line)
            if match and match.group(1) not in {"operator", "requires", "if"}:
                found.add(match.group(1))
    return found


def all_names():
    found = set()
    for header in public_headers():
        text = re.sub(r"^namespace detail \{\n.*?^\}(  // namespace detail)?\n", "", header.read_text(), flags=re.MULTILINE | re.DOTALL)
        found |= names_in(text)
    return found


class Names(unittest.TestCase):
    def test_the_public_names_are_the_listed_ones(self):
        listed = LIST.read_text().split()
        self.assertEqual(listed, sorted(listed))
        self.assertEqual(sorted(all_names() - set(listed)), [], "public, but not in public_names.txt")
        self.assertEqual(sorted(set(listed) - all_names()), [], "in public_names.txt, but not public")

    def test_no_name_is_one_that_users_want(self):
        self.assertEqual(all_names() & WANTED_BY_USERS, set())

    def test_the_search_finds_what_it_should(self):
        text = ("namespace tamis {\nclass filter {\n  int inner();\n};\ntemplate <class T>\nconcept reader = true;\n"
                "inline constexpr int rank = 3;\nstatus select(int i);\nusing error = int;\n}  // namespace tamis\nclass outside {};\n")
        self.assertEqual(names_in(text), {"filter", "reader", "rank", "select", "error"})
        self.assertIn("any_filter", all_names())
        self.assertIn("insert_if_absent", all_names())


# "Insert only if absent" loses members in a filter that erases or adapts: the question and the insert stand in one function of the library
# that only filters which keep everything have. Nobody else writes it.
HABIT = re.compile(r"if \(!\s*[\w.>()-]*may_contain\(([^()]*(?:\([^()]*\))?[^()]*)\)\)\s*\{?\s*(?:return\s+)?[\w.>-]*insert\(")
HABIT_TERNARY = re.compile(r"may_contain\([^?;]*\)\s*\?[^;?]*:\s*[\w.>-]*insert\(")
ALLOWED = {"include/tamis/concepts.hpp", "src/any_filter.cpp"}


def habits(text):
    return [match.group(0) for pattern in (HABIT, HABIT_TERNARY) for match in pattern.finditer(text)]


class InsertIfAbsent(unittest.TestCase):
    def test_nothing_of_ours_does_it(self):
        for folder in ("include", "src", "apps", "lab", "examples", "integrations", "readers", "benchmarks"):
            for path in sorted((ROOT / folder).rglob("*.?pp")):
                name = str(path.relative_to(ROOT))
                with self.subTest(file=name):
                    self.assertEqual(len(habits(path.read_text())), 1 if name in ALLOWED else 0)

    def test_the_search_finds_it(self):
        self.assertTrue(habits("if (!f.may_contain(key)) f.insert(key);"))
        self.assertTrue(habits("if (!filter_->may_contain(hash(key))) {\n  filter_->insert(hash(key));\n}"))
        self.assertTrue(habits("return f.may_contain(d) ? insert_result::present : f.insert(d);"))
        self.assertFalse(habits("if (!f.may_contain(key)) return false;\nf.insert(key);"))


INSERT = re.compile(r"^  ((?:\[\[nodiscard\]\] )?)(?:TAMIS_INLINE )?insert_result insert(?:_if_absent)?\((?:digest|argument|const Key&)", re.MULTILINE)
NEVER_FULL = {"adaptive_bloom.hpp", "model.hpp"}  # abf; and the erased calls, whose answer any_filter hands on


def ignorable(path):
    """The inserts that may refuse, and whose answer may be ignored."""
    text = path.read_text()
    if ".never_full = true" in text or path.name in NEVER_FULL:
        return []
    text = re.sub(r"virtual insert_result insert.*", "", text)
    return [match.group(0).strip() for match in INSERT.finditer(text) if not match.group(1)]


class Refusals(unittest.TestCase):
    def test_nobody_ignores_an_insert_that_may_refuse(self):
        for path in sorted(HEADERS.rglob("*.hpp")):
            with self.subTest(header=str(path.relative_to(ROOT))):
                found = ignorable(path)
                self.assertEqual(found[1:] if path.name == "key_filter.hpp" else found, [])  # there is one of filters that are never full


if __name__ == "__main__":
    unittest.main()
