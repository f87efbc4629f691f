"""The house keeps its order: an include points only to an earlier room, families do not know each other, and public headers use no
tool library. docs/architecture.md lists the rooms."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
HEADERS = ROOT / "include" / "tamis"
# Rooms from the bottom to the top. A room is a public header, a folder of them, or a folder below detail/.
ROOMS = ["result", "memory", "stream", "detail/base", "digest", "cpu", "params", "options", "remote", "key_parts", "hasher", "key_batch", "concepts",
         "detail/simd", "detail/bits", "detail/hash", "detail/io", "detail/mistakes", "detail/math", "detail/remote", "detail/threads",
         "detail/bloom", "detail/cuckoo", "detail/quotient", "detail/telescoping", "detail/growing",
         "filters", "batch", "buffered", "memory_remote", "any_filter", "registry", "mapped", "concurrent", "difference", "detail/any", "key_filter", "guard", "tamis"]
FAMILIES = {"detail/bloom", "detail/cuckoo", "detail/quotient", "detail/telescoping", "detail/growing"}
USES = {"detail/telescoping": {"detail/quotient"}, "detail/growing": {"detail/quotient"}}
# Standard and system headers that public headers may use; everything else has to be ours.
FORBIDDEN = re.compile(r"#include\s+[<\"](CLI|fmt|nlohmann|rocksdb|xxhash|gtest|benchmark)")
INCLUDE = re.compile(r'#include\s+"tamis/([^"]+)\.hpp"')
# What depends on the CPU level belongs into detail/simd: there it is asked for, and intrinsics are called. detail/base/compiler.hpp
# says what the level is.
LEVEL = re.compile(r"^#\s*(?:el)?if.*(?:TAMIS_HAS_AVX|__SSE|__AVX|__BMI|__POPCNT)|\b_mm\d*_(?!pause)", re.MULTILINE)
MAY_ASK = {"detail/base/compiler"}


def headers():
    return sorted(HEADERS.rglob("*.hpp"))


def room_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "detail" else parts[0]


def violations(name, text):
    """`name`: a header without its ending. An -inl header is the second half of the public header that includes it."""
    room = "filters" if name.endswith("-inl") else room_of(name)
    wrong = []
    for target in INCLUDE.findall(text):
        there = room_of(target)
        later = there != room and ROOMS.index(there) > ROOMS.index(room)
        stranger = room in FAMILIES and there in FAMILIES - {room} - USES.get(room, set())
        if later or stranger:
            wrong.append(target)
    return wrong


class Layering(unittest.TestCase):
    def test_there_are_headers(self):
        self.assertGreater(len(headers()), 20)

    def test_every_header_is_in_a_room(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertIn(room_of(str(header.relative_to(HEADERS).with_suffix(""))), ROOMS)

    def test_includes_point_to_earlier_rooms(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertEqual(violations(str(header.relative_to(HEADERS).with_suffix("")), header.read_text()), [])

    def test_only_the_kernels_ask_for_the_cpu_level(self):
        asking = set()
        for header in headers():
            name = str(header.relative_to(HEADERS).with_suffix(""))
            if room_of(name) != "detail/simd" and LEVEL.search(header.read_text()):
                asking.add(name)
        self.assertEqual(sorted(asking - MAY_ASK), [], "what depends on the CPU level belongs into detail/simd")
        self.assertTrue(LEVEL.search("#if TAMIS_HAS_AVX2\n") and LEVEL.search("x = _mm256_setzero_si256();"))

    def test_public_headers_are_few(self):
        self.assertLessEqual(len(list(HEADERS.glob("*.hpp"))), 24)

    def test_public_headers_use_no_tool_library(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertIsNone(FORBIDDEN.search(header.read_text()))

    def test_the_header_of_everything_has_every_filter(self):
        text = (HEADERS / "tamis.hpp").read_text()
        lines = re.findall(r"^TAMIS_(?:FILTER|WIDE)\((\w+), (\w+)\)", (ROOT / "src" / "filters.def").read_text(), re.MULTILINE)
        self.assertGreater(len(lines), 20)
        for name, header in lines:
            with self.subTest(filter=name):
                self.assertIn(f'#include "tamis/filters/{header}.hpp"\n', text)

    def test_headers_are_guarded(self):
        for header in headers():
            with self.subTest(header=str(header)):
                self.assertTrue(header.read_text().startswith("#pragma once\n"))

    def test_the_rule_catches_a_violation(self):
        text = '#include "tamis/filters/bloom.hpp"\n#include "tamis/digest.hpp"\n#include "tamis/detail/quotient/runs.hpp"\n'
        self.assertEqual(violations("detail/bits/word", text), ["filters/bloom", "detail/quotient/runs"])
        self.assertEqual(violations("detail/growing/segment", text), ["filters/bloom"])
        self.assertEqual(violations("detail/cuckoo/buckets", '#include "tamis/detail/bloom/block_words.hpp"\n'), ["detail/bloom/block_words"])

    def test_the_architecture_lists_the_rooms_in_this_order(self):
        text = (ROOT / "docs" / "architecture.md").read_text()
        text = text[text.index("<!-- layers: begin -->"):text.index("<!-- layers: end -->")]
        listed = [name.rstrip("/") for name in re.findall(r"^  ([a-z0-9_/]+)  ", text, re.MULTILINE)]
        self.assertEqual([name for name in listed if name in ROOMS], ROOMS)


if __name__ == "__main__":
    unittest.main()
