"""An include may only point to an earlier layer (docs/design.md has the list), and public headers use no tool library."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
LAYERS = ["base", "hash", "bits", "io", "table", "math", "remote", "filter", "batch", "any", "guard"]
# Standard and system headers that public headers may use; everything else has to be ours.
FORBIDDEN = re.compile(r"#include\s+[<\"](CLI|fmt|nlohmann|rocksdb|xxhash|gtest|benchmark)")
INCLUDE = re.compile(r'#include\s+"tamis/([a-z]+)/')


def headers():
    return sorted((ROOT / "include" / "tamis").rglob("*.hpp"))


def violations(layer, text):
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    return [target for target in INCLUDE.findall(text) if target not in allowed]


class Layering(unittest.TestCase):
    def test_there_are_headers(self):
        self.assertGreater(len(headers()), 20)

    def test_includes_point_to_earlier_layers(self):
        for header in headers():
            parts = header.relative_to(ROOT / "include" / "tamis").parts
            if len(parts) == 1:
                continue  # tamis.hpp includes everything
            with self.subTest(header=str(header)):
                self.assertIn(parts[0], LAYERS)
                self.assertEqual(violations(parts[0], header.read_text()), [])

    def test_public_headers_use_no_tool_library(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertIsNone(FORBIDDEN.search(header.read_text()))

    def test_the_header_of_everything_has_every_filter(self):
        text = (ROOT / "include" / "tamis" / "tamis.hpp").read_text()
        filters = re.findall(r"^TAMIS_(?:FILTER|WIDE)\((\w+)\)", (ROOT / "src" / "any" / "filters.def").read_text(), re.MULTILINE)
        self.assertGreater(len(filters), 20)
        for name in filters:
            with self.subTest(filter=name):
                self.assertIn(f'#include "tamis/filter/{name}.hpp"\n', text)

    def test_headers_are_guarded(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertTrue(header.read_text().startswith("#pragma once\n"))

    def test_the_rule_catches_a_violation(self):
        self.assertEqual(violations("bits", '#include "tamis/filter/bloom.hpp"\n#include "tamis/base/digest.hpp"\n'), ["filter"])

    def test_the_design_document_lists_the_layers_in_this_order(self):
        text = (ROOT / "docs" / "design.md").read_text()
        listed = re.findall(r"^  ([a-z]+)/ ", text, re.MULTILINE)
        self.assertEqual([name for name in listed if name in LAYERS], LAYERS)


if __name__ == "__main__":
    unittest.main()
