"""RESTORE of damaged values, with the server's own CRC made right: refused, or the same value; never a crash."""

import os
import random
import struct
import unittest

import server

TRIES = 1_000_000 if os.environ.get("TAMIS_LONG") == "1" else 4_000
SEED = 71


def crc64_table():
    table = []
    for i in range(256):
        crc = i
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc64_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body):
    return body + struct.pack("<Q", crc64(body))


class Damage(unittest.TestCase):
    def test_damaged_values(self):
        rng = random.Random(SEED)
        with server.Server("--rdbcompression", "no") as s:
            c = s.client()
            bodies = []
            for i, name in enumerate(("bloom", "cuckoo", "rsqf", "taf", "infini", "evergreen", "abf", "acf-cyclic", "counting-bloom")):
                key = f"k{i}"
                c("TAMIS.RESERVE", key, name, 0.1, 64, "MODE", "MULTI", "MISTAKES", 0 if name.startswith("a") else 4)
                c("TAMIS.MADD", key, *range(40))
                dump = c("DUMP", key)
                self.assertEqual(sealed(dump[:-8]), dump)  # our CRC is the server's
                bodies.append((dump[:-8], c("DEBUG", "DIGEST-VALUE", key)[0]))
            accepted = 0
            for first in range(0, TRIES, 50):
                batch = []
                for _ in range(min(50, TRIES - first)):
                    body, digest = rng.choice(bodies)
                    forged = bytearray(body)
                    for _ in range(rng.choice((1, 1, 1, 2, 5))):
                        at = rng.randrange(len(forged) - 2)  # behind it stands the version of the file
                        forged[at] ^= 1 << rng.randrange(8)
                    if rng.random() < 0.1:
                        cut = rng.randrange(1, len(forged) - 2)
                        forged = forged[:cut] + forged[-2:]
                    batch.append((sealed(bytes(forged)), digest))
                replies = c.pipeline([("RESTORE", "x", 0, payload, "REPLACE") for payload, _ in batch])
                for (payload, digest), reply in zip(batch, replies):
                    if reply == "OK":
                        accepted += 1
                        c("RESTORE", "x", 0, payload, "REPLACE")
                        if c("TYPE", "x") == "tamisfltr":
                            self.assertEqual(c("DEBUG", "DIGEST-VALUE", "x")[0], digest, f"seed {SEED}")
            print(f"{TRIES} damaged values, {accepted} accepted, each the same value or of another type")
            self.assertEqual(c("PING"), "PONG")


if __name__ == "__main__":
    unittest.main()
