"""A report must not hide a member, whoever is first: writers that add before or after their commit, and slow reporters."""

import os
import random
import threading
import time
import unittest

import server

GRACE = 0.2
SECONDS = 60 if os.environ.get("TAMIS_LONG") == "1" else 4


class Race(unittest.TestCase):
    def race(self, ring, grace_ms=int(GRACE * 1000)):
        """Answers how many stored keys the filter denies, and how many reports were taken."""
        stored, end = set(), time.monotonic() + SECONDS
        fixed = []
        with server.Server("--tamis.adapt-grace-ms", str(grace_ms), "--tamis.recent-adds", str(ring)) as s:
            # A small filter whose keys are few: nearly every check is a "maybe", so that every report would hide something.
            s.client()("TAMIS.RESERVE", "f", "bloom", 0.5, 2000, "MISTAKES", 5000)

            def write(number):
                c, r, i = s.client(), random.Random(number), 0
                while time.monotonic() < end:
                    key, i = f"{number}:{i}", i + 1
                    if r.random() < 0.5:
                        c("TAMIS.ADD", "f", key)
                        time.sleep(r.random() * GRACE * 0.5)
                        stored.add(key)
                    else:
                        stored.add(key)
                        time.sleep(r.random() * 0.01)
                        c("TAMIS.ADD", "f", key)

            def report(number):
                c, r = s.client(), random.Random(number)
                while time.monotonic() < end:
                    newest = sum(1 for k in list(stored) if k.startswith(f"{number % 4}:"))
                    # One that is being written, or one that nobody ever writes.
                    key = f"{number % 4}:{max(0, newest + r.randrange(-2, 3))}" if r.random() < 0.8 else f"never:{r.randrange(10 ** 6)}"
                    ticket = c("TAMIS.CHECK", "f", key)[0]
                    if ticket and key not in stored:
                        time.sleep(r.random() * GRACE * 2)  # slower than the grace time: the ticket has to hold
                        fixed.extend(a for a in c("TAMIS.MISTAKE", "f", "TICKET", ticket, key) if a == b"fixed")

            threads = [threading.Thread(target=write, args=(i,)) for i in range(4)] + \
                      [threading.Thread(target=report, args=(i,)) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            keys = sorted(stored)
            lost = [k for k, a in zip(keys, s.client()("TAMIS.MEXISTS", "f", *keys)) if not a]
            return len(lost), len(fixed)

    def test_no_member_is_hidden(self):
        lost, fixed = self.race(100_000)
        print(f"with the ring: {fixed} reports taken")
        self.assertEqual(lost, 0)
        self.assertGreater(fixed, 0)

    def test_rules_one_by_one(self):
        with server.Server("--tamis.adapt-grace-ms", "300") as s:
            c = s.client()
            c("TAMIS.RESERVE", "f", "bloom", 0.5, 100, "MISTAKES", 100)
            c("TAMIS.MADD", "f", *range(100))
            absent = next(f"a{i}" for i in range(1000) if c("TAMIS.EXISTS", "f", f"a{i}"))
            ticket = c("TAMIS.CHECK", "f", absent)[0]
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", ticket, 5), [b"recent"])  # a member
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", ticket, absent), [b"fixed"])
            self.assertEqual(c("TAMIS.EXISTS", "f", absent), 0)
            c("TAMIS.ADD", "f", absent)
            self.assertEqual(c("TAMIS.EXISTS", "f", absent), 1)
            known = next(f"c{i}" for i in range(1000) if c("TAMIS.EXISTS", "f", f"c{i}"))
            self.assertEqual(c("TAMIS.ADD", "f", known), 0)  # not stored, and a member from now on
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", c("TAMIS.CHECK", "f", known)[0], known), [b"recent"])
            c("DEBUG", "RELOAD")  # adds before are not known any more
            other = next(f"b{i}" for i in range(1000) if c("TAMIS.EXISTS", "f", f"b{i}"))
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", c("TAMIS.CHECK", "f", other)[0], other), [b"recent"])
            time.sleep(0.4)
            elsewhere = c("TAMIS.CHECK", "f", other)[0] + (1 << 40)  # another server's ticket
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", elsewhere, other), [b"recent"])
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", c("TAMIS.CHECK", "f", other)[0], other), [b"fixed"])

    def test_a_new_master_waits(self):
        """Adds that the old master answered with 0 were not sent."""
        with server.Server("--tamis.adapt-grace-ms", "300") as s:
            c = s.client()
            c("TAMIS.RESERVE", "f", "bloom", 0.5, 100, "MISTAKES", 100)
            c("TAMIS.MADD", "f", *range(100))
            c("REPLICAOF", "127.0.0.1", 1)
            c("REPLICAOF", "NO", "ONE")
            absent = next(f"a{i}" for i in range(1000) if c("TAMIS.EXISTS", "f", f"a{i}"))
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", c("TAMIS.CHECK", "f", absent)[0], absent), [b"recent"])
            time.sleep(0.4)
            self.assertEqual(c("TAMIS.MISTAKE", "f", "TICKET", c("TAMIS.CHECK", "f", absent)[0], absent), [b"fixed"])

    def hidden_by_reports(self, ring, grace_ms):
        """The race in slow motion: ADD, a check, the database says no, a report, and only then the writer's commit."""
        with server.Server("--tamis.adapt-grace-ms", str(grace_ms), "--tamis.recent-adds", str(ring)) as s:
            c = s.client()
            c("TAMIS.RESERVE", "f", "bloom", 0.5, 2000, "MISTAKES", 100)
            for key in range(20):
                c("TAMIS.ADD", "f", key)
                time.sleep(0.005)
                ticket = c("TAMIS.CHECK", "f", key)[0]
                time.sleep(0.005)
                c("TAMIS.MISTAKE", "f", "TICKET", ticket, key)
            return 20 - sum(c("TAMIS.MEXISTS", "f", *range(20)))

    def test_the_ring_is_what_prevents_it(self):
        self.assertEqual(self.hidden_by_reports(4096, grace_ms=200), 0)
        self.assertEqual(self.hidden_by_reports(0, grace_ms=0), 20)  # without it every one of them is lost


if __name__ == "__main__":
    unittest.main()
