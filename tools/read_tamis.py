#!/usr/bin/env python3
"""read_tamis.py FILE...: reads and verifies saved filters, by docs/format.md alone.

Prints the header, and for kinds whose fields the document lists, the fields. Exit code 1 and the reason if a file is damaged. Plain
Python, and slow for that: about 5 MB a second."""

import struct
import sys

MASK = (1 << 64) - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


# --- XXH3-64 without a seed ---

def word(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def half(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def fold(a, b):
    product = a * b
    return (product ^ (product >> 64)) & MASK


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & MASK
    return h ^ (h >> 32)


def avalanche64(h):
    h = (h ^ (h >> 33)) * P64[1] & MASK
    h = (h ^ (h >> 29)) * P64[2] & MASK
    return h ^ (h >> 32)


def mix16(data, at, secret):
    return fold(word(data, at) ^ word(SECRET, secret), word(data, at + 8) ^ word(SECRET, secret + 8))


def short_sum(data):
    n = len(data)
    if n == 0:
        return avalanche64(word(SECRET, 56) ^ word(SECRET, 64))
    if n <= 3:
        mixed = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche64(mixed ^ half(SECRET, 0) ^ half(SECRET, 4))
    if n <= 8:
        h = (half(data, n - 4) + (half(data, 0) << 32)) ^ word(SECRET, 8) ^ word(SECRET, 16)
        rotated = ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & MASK
        h = (h ^ rotated) * 0x9FB21C651E98DF25 & MASK
        h = (h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25 & MASK
        return h ^ (h >> 28)
    low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
    high = word(data, n - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
    return avalanche((n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high)) & MASK)


def middle_sum(data):
    n = len(data)
    h = n * P64[0]
    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            h += mix16(data, 16 * i, 32 * i) + mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & MASK)
    h = avalanche((h + sum(mix16(data, 16 * i, 16 * i) for i in range(8))) & MASK)
    h += sum(mix16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return avalanche((h + mix16(data, n - 16, 136 - 17)) & MASK)


def long_sum(data):
    lanes = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    keys = [struct.unpack_from("<8Q", SECRET, 8 * i) for i in range(16)]
    scramble = struct.unpack_from("<8Q", SECRET, 128)

    def add(at, key):
        values = struct.unpack_from("<8Q", data, at)
        for i in range(8):
            keyed = values[i] ^ key[i]
            lanes[i ^ 1] += values[i]
            lanes[i] = (lanes[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32)) & MASK

    last_stripe = (len(data) - 1) // 64
    for stripe in range(last_stripe):
        add(64 * stripe, keys[stripe % 16])
        if stripe % 16 == 15:
            for i in range(8):
                lane = lanes[i] & MASK
                lanes[i] = (lane ^ (lane >> 47) ^ scramble[i]) * P32[0] & MASK
    add(len(data) - 64, struct.unpack_from("<8Q", SECRET, 192 - 64 - 7))
    h = len(data) * P64[0]
    for i in range(4):
        h += fold(lanes[2 * i] & MASK ^ word(SECRET, 11 + 16 * i), lanes[2 * i + 1] & MASK ^ word(SECRET, 19 + 16 * i))
    return avalanche(h & MASK)


def xxh3_64(data):
    return short_sum(data) if len(data) <= 16 else middle_sum(data) if len(data) <= 240 else long_sum(data)


# --- the frame ---

class Damaged(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Damaged(reason)


def up(number, unit):
    return (number + unit - 1) // unit * unit


def read_frame(data):
    """The header as a dictionary, and the payload. Raises Damaged."""
    need(data[:8] == b"TAMIS\r\n\x1a", "it is not a tamis file")
    need(len(data) >= 12, "it ends too early")
    version, = struct.unpack_from("<I", data, 8)
    need(version == 2, f"its format version is {version}, not 2")
    need(len(data) >= 43, "it ends too early")
    kind_version, length, seed, check, family, block_bits, kind_length = struct.unpack_from("<IQQQBBB", data, 12)
    need(1 <= kind_length <= 64, "the kind has a wrong length")
    need(12 <= block_bits <= 30, "the size of a block is wrong")
    block = 1 << block_bits
    table = up(43 + kind_length, 8)
    blocks = (length + block - 1) // block
    header_sum = table + 8 * blocks
    begin = up(header_sum + 8, 64)
    need(len(data) == begin + length, "it ends too early" if len(data) < begin + length else "there are bytes after its end")
    need(xxh3_64(data[:header_sum]) == word(data, header_sum), "the checksum of its header is wrong")
    need(not any(data[43 + kind_length:table]) and not any(data[header_sum + 8:begin]), "its padding is not zero")
    need(family in (0, 1), "unknown hash family")
    payload = data[begin:]
    for i in range(blocks):
        need(xxh3_64(payload[i * block:(i + 1) * block]) == word(data, table + 8 * i), f"the checksum of block {i} is wrong")
    header = {"kind": data[43:43 + kind_length].decode(), "version": kind_version, "hash": ("fast", "keyed")[family],
              "seed": seed, "check": check, "payload": length, "blocks": blocks}
    return header, payload


# --- payloads ---

SIZES = {"u8": 1, "u32": 4, "u64": 8}
FIELDS = {
    "bloom": [("capacity", "u64"), ("keys", "u64"), ("k", "u32"), ("bits", "u64"), ("words", "array of u64")],
    "bloom1": [("capacity", "u64"), ("keys", "u64"), ("k", "u32"), ("split", "u8"), ("word bits", "u32"), ("words", "u64"),
               ("lanes", "array of u32")],
    "counting-bloom": [("capacity", "u64"), ("keys", "u64"), ("k", "u32"), ("counters", "u64"), ("bytes", "array of u8")],
}


def read_fields(kind, payload):
    """The fields of a kind that the document lists; arrays as bytes. None for others."""
    at, found = 0, {}
    for name, form in FIELDS.get(kind, []):
        if form in SIZES:
            found[name] = int.from_bytes(payload[at:at + SIZES[form]], "little")
            at += SIZES[form]
            continue
        size = word(payload, at) * SIZES[form.removeprefix("array of ")]
        at = up(at + 8, 64) if size >= 4096 else at + 8
        found[name] = payload[at:at + size]
        need(at + size <= len(payload), f"its {name} are cut off")
        at = up(at + size, 64) if size >= 4096 else at + size
    need(not found or at == len(payload), "its content is not as long as its fields")
    return found or None


def main(paths):
    wrong = False
    for path in paths:
        try:
            with open(path, "rb") as file:
                header, payload = read_frame(file.read())
            fields = read_fields(header["kind"], payload)
        except (Damaged, OSError) as reason:
            print(f"{path}: {reason}", file=sys.stderr)
            wrong = True
            continue
        print(f"{path}: " + ", ".join(f"{name} {value}" for name, value in header.items()))
        for name, value in (fields or {}).items():
            print(f"  {name}: " + (f"{len(value)} bytes" if isinstance(value, bytes) else str(value)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
