"""RESTORE of damaged values, with the server's own CRC made right: refused, or the same value; never a crash. Where the checksums of the
value and of its filter are made right, too, as a forger would: refused, or a value that every command can be used on, within its limit."""

import ctypes
import ctypes.util
import os
import random
import struct
import unittest

import server

TRIES = 1_000_000 if os.environ.get("TAMIS_LONG") == "1" else 4_000
SEED = 71
NAMES = ("bloom", "cuckoo", "rsqf", "taf", "infini", "evergreen", "abf", "acf-cyclic", "counting-bloom")
MAGIC = b"TAMIS\r\n\x1a"
LIMIT = 1 << 20


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


def xxh3():
    """XXH3-64 as the C library has it; none where there is only its header."""
    found = ctypes.util.find_library("xxhash")
    if not found:
        return None
    function = ctypes.CDLL(found).XXH3_64bits
    function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    return lambda data: function(data, len(data))


class Frame:
    """Where things stand in a saved value or filter (docs/format.md)."""

    def __init__(self, frame):
        size, self.block = struct.unpack_from("<Q", frame, 16)[0], 1 << frame[41]
        self.table = (43 + frame[42] + 7) // 8 * 8
        self.blocks = -(-size // self.block)
        self.sum = self.table + 8 * self.blocks
        self.payload = (self.sum + 8 + 63) // 64 * 64
        self.end = self.payload + size


def resealed(frame, hash64):
    at = Frame(frame)
    assert at.end == len(frame)
    for i in range(at.blocks):
        begin = at.payload + i * at.block
        struct.pack_into("<Q", frame, at.table + 8 * i, hash64(bytes(frame[begin:begin + at.block])))
    struct.pack_into("<Q", frame, at.sum, hash64(bytes(frame[:at.sum])))
    return frame


def flipped(data, first, last, rng):
    data[rng.randrange(first, last)] ^= 1 << rng.randrange(8)


class Damage(unittest.TestCase):
    def make(self, c):
        """Saved values without the server's CRC, and the digest of each."""
        bodies = []
        for i, name in enumerate(NAMES):
            key = f"k{i}"
            c("TAMIS.RESERVE", key, name, 0.1, 64, "MODE", "MULTI", "MISTAKES", 0 if name.startswith("a") else 4)
            c("TAMIS.MADD", key, *range(40))
            c("TAMIS.MISTAKE", key, *(f"a{i}" for i in range(100)))
            dump = c("DUMP", key)
            self.assertEqual(sealed(dump[:-8]), dump)  # our CRC is the server's
            bodies.append((dump[:-8], c("DEBUG", "DIGEST-VALUE", key)[0]))
        return bodies

    def test_damaged_values(self):
        rng = random.Random(SEED)
        with server.Server("--rdbcompression", "no", "--tamis.adapt-grace-ms", "0") as s:
            c = s.client()
            bodies = self.make(c)
            accepted = 0
            for first in range(0, TRIES, 50):
                batch = []
                for _ in range(min(50, TRIES - first)):
                    body, digest = rng.choice(bodies)
                    damaged = bytearray(body)
                    for _ in range(rng.choice((1, 1, 1, 2, 5))):
                        flipped(damaged, 0, len(damaged) - 2, rng)  # behind it stands the version of the file
                    if rng.random() < 0.1:
                        cut = rng.randrange(1, len(damaged) - 2)
                        damaged = damaged[:cut] + damaged[-2:]
                    batch.append((sealed(bytes(damaged)), digest))
                replies = c.pipeline([("RESTORE", "x", 0, payload, "REPLACE") for payload, _ in batch])
                for (payload, digest), reply in zip(batch, replies):
                    if reply == "OK":
                        accepted += 1
                        c("RESTORE", "x", 0, payload, "REPLACE")
                        if c("TYPE", "x") == "tamisfltr":
                            self.assertEqual(c("DEBUG", "DIGEST-VALUE", "x")[0], digest, f"seed {SEED}")
            print(f"{TRIES} damaged values, {accepted} accepted, each the same value or of another type")
            self.assertEqual(c("PING"), "PONG")

    def forged(self, body, of_filter, hash64, rng):
        """One to three bits of the filter's payload or of the value's own fields are others; all checksums are right."""
        begin, end = body.index(MAGIC), len(body) - 3  # behind it: no more strings, and the version of the file
        outer = bytearray(body[begin:end])
        own = outer.index(MAGIC, 8)
        inner = outer[own:]
        at, inside = Frame(outer), Frame(inner)
        for _ in range(rng.choice((1, 1, 2, 3))):
            if not of_filter:
                flipped(outer, at.payload, own, rng)
            else:  # lengths and counts stand first; tables are most of the bytes
                flipped(inner, inside.payload, min(inside.end, inside.payload + 96) if rng.random() < 0.5 else inside.end, rng)
        outer[own:] = resealed(inner, hash64)
        return sealed(body[:begin] + bytes(resealed(outer, hash64)) + body[end:])

    def test_forged_values(self):
        hash64 = xxh3()
        if hash64 is None:
            self.skipTest("there is no libxxhash to forge checksums with")
        rng = random.Random(SEED + 1)
        with server.Server("--rdbcompression", "no", "--tamis.adapt-grace-ms", "0", "--tamis.memory-limit", str(LIMIT)) as s:
            c = s.client()
            bodies = self.make(c)
            before = int(server.field(c("INFO", "memory").decode(), "used_memory"))
            accepted, of_filters = [0, 0], [rng.random() < 0.75 for _ in range(TRIES)]
            use = [("TAMIS.MEXISTS", "x", *range(50)), ("TAMIS.MADD", "x", *range(100, 110)), ("TAMIS.DEL", "x", 1),
                   ("TAMIS.MISTAKE", "x", *(f"a{i}" for i in range(5))), ("TAMIS.INFO", "x"), ("MEMORY", "USAGE", "x")]
            for first in range(0, TRIES, 50):
                payloads = [self.forged(rng.choice(bodies)[0], of_filter, hash64, rng) for of_filter in of_filters[first:first + 50]]
                commands = [w for payload in payloads for w in (("RESTORE", "x", 0, payload, "REPLACE"), *use, ("DEL", "x"))]
                replies = c.pipeline(commands)
                for i in range(0, len(replies), len(use) + 2):
                    if replies[i] == "OK":
                        accepted[of_filters[first + i // (len(use) + 2)]] += 1
                        self.assertLessEqual(replies[i + len(use)], LIMIT + 4096, f"seed {SEED + 1}")
                    else:
                        self.assertIsInstance(replies[i], server.Error)
            print(f"{TRIES} forged values, accepted {accepted[0]} with other fields of the value, {accepted[1]} with another filter")
            self.assertTrue(all(TRIES / 20 < n < TRIES / 2 for n in accepted))  # forgeries come as far as the tables
            peak = int(server.field(c("INFO", "memory").decode(), "used_memory_peak"))
            self.assertLess(peak - before, LIMIT + (1 << 20))  # the limit of a value, and a megabyte for clients and what is being read


if __name__ == "__main__":
    unittest.main()
