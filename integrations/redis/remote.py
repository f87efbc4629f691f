#!/usr/bin/env python3
"""A filter of `tamis remote` from Python, with redis-py: what a client in any language has to do.

  remote.py HOST:PORT NAME add|check < KEYS        prints the keys that may be in, for check"""

import binascii
import sys
import zlib

from redis.cluster import RedisCluster

SLOTS = 16384
BATCH = 10_000


def slot_of(tag):
    return binascii.crc_hqx(tag, 0) % SLOTS  # CRC-16/XMODEM, as the cluster has it


def shard_of(item, shards):
    h = zlib.crc32(item)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return (h ^ h >> 16) * shards >> 32


def shard_keys(name, shards):
    """Shard s is at NAME:{t}, where t is the smallest number in slot (slot of NAME + s * 16384 / shards)."""
    wanted = {(slot_of(name) + s * SLOTS // shards) % SLOTS: s for s in range(shards)}
    keys, number = [None] * shards, 0
    while wanted:
        shard = wanted.pop(slot_of(b"%d" % number), None)
        if shard is not None:
            keys[shard] = b"%b:{%d}" % (name, number)
        number += 1
    return keys


class RemoteFilter:
    def __init__(self, cluster, name):
        self.cluster = cluster
        about = cluster.hgetall("{%s}:meta" % name)
        if about.get(b"version") != b"1" or about.get(b"state") != b"ready":
            raise ValueError(f"{name}: there is no such filter, or it was never made to the end")
        self.keys = shard_keys(name.encode(), int(about[b"shards"]))

    def ask(self, command, items):
        """The command's answer for each item. One call per shard; CHECK and MADD refuse a shard that is missing."""
        groups = {}
        for i, item in enumerate(items):
            groups.setdefault(self.keys[shard_of(item, len(self.keys))], []).append(i)
        answers = [None] * len(items)
        for key, numbers in groups.items():
            reply = self.cluster.execute_command(command, key, *(items[i] for i in numbers))
            for i, answer in zip(numbers, reply, strict=True):
                if isinstance(answer, Exception):
                    raise answer
                answers[i] = answer
        return answers

    def add(self, items):  # WAIT on each master before you count them as stored for good
        return self.ask("TAMIS.MADD", items)

    def check(self, items):  # 0: certainly not in; else a ticket for TAMIS.MISTAKE
        return self.ask("TAMIS.CHECK", items)


def main(address, name, what):
    host, port = address.rsplit(":", 1)
    f = RemoteFilter(RedisCluster(host=host, port=int(port)), name)
    items = sys.stdin.buffer.read().splitlines()
    for first in range(0, len(items), BATCH):
        some = items[first:first + BATCH]
        for item, answer in zip(some, f.add(some) if what == "add" else f.check(some)):
            if what == "check" and answer:
                sys.stdout.buffer.write(item + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
