"""A database file that was written once is read for ever; one of a newer encoding is refused by name.

TAMIS_WRITE_GOLDEN=1 writes the file of this encoding anew."""

import os
import pathlib
import shutil
import tempfile
import unittest

import damage_test
import equal_test
import server

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "redis" / "v1.rdb"
SECRET = "00112233445566778899aabbccddeeff"


def expected():
    """Key, filter, mode, entries of the list, and what names the hash."""
    for name in equal_test.ERASING + equal_test.OTHERS:
        for mode in ("MULTI",) if name.startswith("acf") else ("SET", "MULTI"):
            yield f"{name}:{mode}", name, mode, 0 if name.startswith(("acf", "abf")) else 8, ["SEED", "2a"]
    yield "keyed", "evergreen", "SET", 0, ["SECRET", SECRET]


def write():
    with server.Server("--tamis.adapt-grace-ms", "0") as s:
        c = s.client()
        for key, name, mode, mistakes, hashed in expected():
            c("TAMIS.RESERVE", key, name, 0.1, 150, "MODE", mode, "MISTAKES", mistakes, *hashed)
            c("TAMIS.MADD", key, *range(100))
        c("BF.INSERT", "bf", "ITEMS", *range(1000))
        c("CF.INSERT", "cf", "ITEMS", *range(1000))
        c("SAVE")
        GOLDEN.parent.mkdir(exist_ok=True)
        shutil.copy(pathlib.Path(s.folder) / "dump.rdb", GOLDEN)


class Golden(unittest.TestCase):
    def test_written_once_read_for_ever(self):
        if os.environ.get("TAMIS_WRITE_GOLDEN") == "1":
            write()
        folder = tempfile.mkdtemp(prefix="tamis-redis-")
        shutil.copy(GOLDEN, pathlib.Path(folder) / "dump.rdb")
        with server.Server(folder=folder) as s:
            c = s.client()
            names = {key for key, *_ in expected()} | {"bf", "cf"}
            self.assertEqual({k.decode() for k in c("KEYS", "*")}, names)
            for key, name, mode, mistakes, _ in expected():
                with self.subTest(key=key):
                    told = dict(zip(*[iter(c("TAMIS.INFO", key))] * 2))
                    self.assertEqual(told[b"filter"].decode(), name + ("+mistakes" if mistakes else ""))
                    self.assertEqual((told[b"mode"].decode(), told[b"known mistakes limit"]), (mode, mistakes))
                    self.assertTrue(all(c("TAMIS.MEXISTS", key, *range(100))))
                    self.assertLess(sum(c("TAMIS.MEXISTS", key, *(f"a{i}" for i in range(1000)))), 400)
            self.assertTrue(all(c("BF.MEXISTS", "bf", *range(1000)) + c("CF.MEXISTS", "cf", *range(1000))))
            self.assertEqual(c("CF.DEL", "cf", 5), 1)

    def test_a_newer_encoding_is_refused_by_name(self):
        with server.Server() as s:
            c = s.client()
            c("BF.ADD", "b", "x")
            body = bytearray(c("DUMP", "b")[:-8])
            # One byte of kind, one that says "8 bytes follow", then the type: nine letters, and the encoding in the last 10 bits.
            self.assertEqual((body[1], body[9], body[8] & 3), (0x81, 1, 0))
            body[9] = 2
            self.assertIn("Bad data format", c.error("RESTORE", "n", 0, damage_test.sealed(bytes(body))))
            self.assertIn("encoding version 2, this module reads version 1", s.log())


if __name__ == "__main__":
    unittest.main()
