"""used_memory sees every byte of a filter, MEMORY USAGE says the truth, limits hold, and nothing is left behind."""

import time
import unittest

import server


def used(c):
    return int(server.field(c("INFO", "memory").decode(), "used_memory"))


def settled(c):
    """used_memory once the buffers of closed clients and lazily freed values are gone: the least of 2.4 seconds."""
    least = used(c)
    for _ in range(8):
        time.sleep(0.3)
        least = min(least, used(c))
    return least


class Memory(unittest.TestCase):
    def test_usage_is_what_was_taken(self):
        # The server takes some 25 KB for the histogram of latencies of each command when it is first called.
        with server.Server("--latency-tracking", "no") as s:
            c = s.client()
            for name, capacity, keys, values in (("evergreen", 100, 1_000_000, 1), ("bloom", 3_000_000, 5000, 1), ("cuckoo", 2_000_000, 5000, 1),
                                                 ("cqf", 3_000_000, 5000, 1), ("acf-cyclic", 500_000, 5000, 1), ("evergreen", 1000, 1000, 300),
                                                 ("bloom", 10_000, 5000, 60), ("cuckoo", 1000, 1000, 300)):
                with self.subTest(filter=name, values=values):
                    self.check_usage(s, c, name, capacity, keys, values)

    def check_usage(self, s, c, name, capacity, keys, values):
        other = server.Client(s.port)  # whose buffers are gone when memory is looked at
        names = [f"k{i}" for i in range(values)]
        for key in names:
            other("TAMIS.RESERVE", key, name, 0.01, capacity, "MODE", "MULTI")
            for first in range(0, keys, 5000):
                other("TAMIS.MADD", key, *range(first, min(keys, first + 5000)))
        other.close()
        said, full = sum(c("MEMORY", "USAGE", key) for key in names), settled(c)
        c("UNLINK", *names)
        self.assertAlmostEqual(said / (full - settled(c)), 1, delta=0.03)

    def test_nothing_is_left(self):
        with server.Server() as s:
            c, after = s.client(), []
            for _ in range(4):
                other = server.Client(s.port)
                for name in ("bloom", "cuckoo", "evergreen", "infini", "taf", "abf", "acf-cyclic"):
                    other("TAMIS.RESERVE", name, name, 0.01, 5000, "MODE", "MULTI", "MISTAKES", 100)
                    other("TAMIS.MADD", name, *range(5000))
                    other("TAMIS.MISTAKE", name, *(f"a{i}" for i in range(1000)))
                    other("UNLINK", name)
                other.close()
                after.append(settled(c))
            self.assertLess(abs(after[-1] - after[1]), 4096)

    def test_large_values_are_freed_beside_the_commands(self):
        """Of UNLINK and FLUSHALL ASYNC, in the server's own thread; not what is small."""
        with server.Server() as s:
            c = s.client()

            def freed():
                return int(server.field(c("INFO", "memory").decode(), "lazyfreed_objects"))

            start, empty = freed(), used(c)
            c("TAMIS.RESERVE", "small", "bloom", 0.01, 1000)
            c("UNLINK", "small")
            self.assertEqual(freed(), start)
            for gone in (("UNLINK", "large"), ("FLUSHALL", "ASYNC")):
                c("TAMIS.RESERVE", "large", "bloom", 0.01, 5_000_000)
                c("TAMIS.ADD", "large", "x")
                self.assertGreater(used(c) - empty, 6 << 20)
                before = freed()
                c(*gone)
                for _ in range(100):
                    if freed() > before:
                        break
                    time.sleep(0.05)
                self.assertEqual(freed(), before + 1)
                self.assertLess(settled(c) - empty, 256 << 10)  # buffers of clients
            self.assertEqual(server.field(c("INFO", "tamis").decode(), "tamis_values"), "0")

    def test_limit_of_a_value(self):
        with server.Server("--tamis.memory-limit", "1mb") as s:
            c = s.client()
            self.assertIn("Insufficient memory", c.error("BF.RESERVE", "b", 0.001, 10_000_000))
            self.assertEqual(c("EXISTS", "b"), 0)
            c("BF.RESERVE", "b", 0.001, 1000)
            added = []
            for first in range(0, 2_000_000, 5000):
                answers = c("BF.MADD", "b", *range(first, first + 5000))
                added += [first + i for i, a in enumerate(answers) if not isinstance(a, server.Error)]
                if isinstance(answers[-1], server.Error):
                    self.assertIn("ERR no memory", str(answers[-1]))
                    break
            else:
                self.fail("grew without end")
            self.assertLess(c("MEMORY", "USAGE", "b"), 1.1 * (1 << 20))
            for first in range(0, len(added), 5000):
                self.assertTrue(all(c("BF.MEXISTS", "b", *added[first:first + 5000])))

    def test_maxmemory_sees_filters(self):
        with server.Server("--maxmemory", "20mb") as s:
            c = s.client()
            self.assertIn("does not fit into maxmemory", c.error("TAMIS.RESERVE", "a", "bloom", 0.001, 20_000_000))
            self.assertEqual(c.error("BF.RESERVE", "a", 0.001, 20_000_000), "ERR Insufficient memory to create filter")
            self.assertEqual((c("EXISTS", "a"), c("SET", "x", "y")), (0, "OK"))
            c("TAMIS.RESERVE", "a", "bloom", 0.001, 8_000_000)  # 14 of 20 MB
            self.assertEqual(c("TAMIS.ADD", "a", "x"), 1)
            self.assertIn("does not fit", c.error("TAMIS.RESERVE", "b", "bloom", 0.001, 3_000_000))
            c("CONFIG", "SET", "maxmemory", "15mb")
            self.assertIn("OOM", c.error("TAMIS.ADD", "a", "y"))
            self.assertEqual(c("TAMIS.EXISTS", "a", "x"), 1)


if __name__ == "__main__":
    unittest.main()
