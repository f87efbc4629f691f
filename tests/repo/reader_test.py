"""tools/read_tamis.py reads and verifies every saved filter by docs/format.md alone: proof that the document is complete."""

import pathlib
import struct
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import read_tamis  # noqa: E402

GOLDEN = sorted((ROOT / "tests" / "golden" / "v2").glob("*.tamis"))
# Of the first n bytes of (i * 167 >> 3) mod 256: by the reference implementation.
SUMS = {
    0: 3244421341483603138, 3: 9959914632649890775, 8: 9457363436967069089, 16: 3204324703248083950,
    128: 308180788991029273, 200: 9413437738966366775, 240: 8800933237320927485, 241: 15415507467488753853,
    1024: 8987772828830548244, 1025: 11034993439673565486, 65536: 7920256038251007985, 70000: 4035197892574242595}


class Reader(unittest.TestCase):
    def test_checksum_is_xxh3(self):
        data = bytes((i * 167 >> 3) & 255 for i in range(70000))
        for size, value in SUMS.items():
            self.assertEqual(read_tamis.xxh3_64(data[:size]), value, size)

    def test_every_golden_file_is_read(self):
        self.assertGreater(len(GOLDEN), 20)
        for path in GOLDEN:
            with self.subTest(path.name):
                header, payload = read_tamis.read_frame(path.read_bytes())
                self.assertEqual(header["kind"], path.stem)
                self.assertEqual((header["version"], header["hash"], header["payload"]), (1, "fast", len(payload)))
                fields = read_tamis.read_fields(header["kind"], payload)
                if header["kind"] in read_tamis.FIELDS:
                    self.assertEqual((fields["keys"], fields["capacity"]), (100, 150))

    def test_lists_of_known_mistakes_are_where_the_document_says(self):
        files = sorted((ROOT / "tests" / "golden" / "mistakes").glob("*.tamis"))
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(path.name):
                header, payload = read_tamis.read_frame(path.read_bytes())
                self.assertEqual(header["kind"], path.stem)
                entries, *words = struct.unpack("<Q10Q", payload[-88:])
                digests = list(zip(words[::2], words[1::2]))
                self.assertEqual((entries, digests.count((0, 0)), len(set(digests))), (5, 1, 5))
                self.assertEqual(digests[3], (0, 0))  # the last but one was taken off

    def test_every_damage_is_noticed(self):
        data = (ROOT / "tests" / "golden" / "v2" / "bloom.tamis").read_bytes()
        for size in range(len(data)):
            with self.assertRaises(read_tamis.Damaged):
                read_tamis.read_frame(data[:size])
        for at in range(len(data)):
            with self.assertRaises(read_tamis.Damaged):
                read_tamis.read_frame(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
        with self.assertRaises(read_tamis.Damaged):
            read_tamis.read_frame(data + b"\0")
        with self.assertRaisesRegex(read_tamis.Damaged, "version is 1"):
            read_tamis.read_frame(data[:8] + struct.pack("<I", 1) + data[12:])


if __name__ == "__main__":
    unittest.main()
