"""What every command answers, in RESP2 and RESP3, as a table; and what redis-py's wrappers make of it."""

import time
import unittest

import server

T, F = True, False
# command, reply in RESP3 (a truth is 1 or 0 in RESP2, a map a flat array). A string is the text of an error if it begins with '!'.
TABLE = [
    ("BF.RESERVE b 0.01 1000", "OK"),
    ("BF.RESERVE b 0.01 1000", "!ERR item exists"),
    ("BF.RESERVE", "!ERR wrong number of arguments for 'bf.reserve' command"),
    ("BF.RESERVE n x 1000", "!ERR bad error rate"),
    ("BF.RESERVE n 0 1000", "!ERR error rate must be in the range (0.000000, 1.000000)"),
    ("BF.RESERVE n 1 1000", "!ERR error rate must be in the range (0.000000, 1.000000)"),
    ("BF.RESERVE n 0.01 x", "!ERR bad capacity"),
    ("BF.RESERVE n 0.01 0", "!ERR capacity must be in the range [1, 1073741824]"),
    ("BF.RESERVE n 0.01 10 EXPANSION", "!ERR no expansion"),
    ("BF.RESERVE n 0.01 10 EXPANSION x", "!ERR bad expansion"),
    ("BF.RESERVE n 0.01 10 NONSCALING EXPANSION 2", "!Nonscaling filters cannot expand"),
    ("BF.RESERVE big 0.000001 1073741824", "!ERR Insufficient memory to create filter"),
    ("BF.RESERVE s 0.01 10", "!" + "WRONGTYPE Operation against a key holding the wrong kind of value"),
    ("BF.ADD b x", T), ("BF.ADD b x", F), ("BF.MADD b x y z", [F, T, T]),
    ("BF.EXISTS b x", T), ("BF.EXISTS b absent", F), ("BF.MEXISTS b x absent y", [T, F, T]),
    ("BF.EXISTS none x", F), ("BF.EXISTS s x", F), ("BF.MEXISTS none x y", [F, F]),
    ("BF.ADD s x", "!WRONGTYPE Operation against a key holding the wrong kind of value"),
    ("BF.CARD b", 3), ("BF.CARD none", 0), ("BF.CARD s", "!WRONGTYPE Operation against a key holding the wrong kind of value"),
    ("BF.INSERT i NOCREATE ITEMS x", "!ERR not found"),
    ("BF.INSERT i CAPACITY 1000 ERROR 0.001 EXPANSION 4 ITEMS x y x", [T, T, F]),
    ("BF.INSERT i CAPACITY x ITEMS x", "!Bad capacity"), ("BF.INSERT i ERROR 2 ITEMS x", "!Bad error rate"),
    ("BF.INSERT i EXPANSION x ITEMS x", "!Bad expansion"), ("BF.INSERT i WHAT ITEMS x", "!Unknown argument received"),
    ("BF.INFO i EXPANSION", {b"Expansion rate": 4}), ("BF.INFO i ITEMS", {b"Number of items inserted": 2}),
    ("BF.INFO i what", "!Invalid information value"), ("BF.INFO none", "!ERR not found"),
    ("BF.RESERVE ns 0.01 2 NONSCALING", "OK"), ("BF.MADD ns a b c d", [T, T, "!ERR non scaling filter is full"]),
    ("BF.ADD ns e", "!ERR non scaling filter is full"), ("BF.INFO ns EXPANSION", {b"Expansion rate": None}),
    ("BF.SCANDUMP b x", "!Second argument must be numeric"), ("BF.LOADCHUNK new 1 rubbish", "!ERR received bad data"),
    ("CF.RESERVE c 1000", "OK"), ("CF.RESERVE c 1000", "!ERR item exists"), ("CF.RESERVE n x", "!Bad capacity"),
    ("CF.RESERVE n 100 BUCKETSIZE x", "!Couldn't parse BUCKETSIZE"),
    ("CF.RESERVE n 100 BUCKETSIZE 0", "!BUCKETSIZE: value must be in the range [1, 255]"),
    ("CF.RESERVE n 3 BUCKETSIZE 2", "!Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
    ("CF.ADD c x", T), ("CF.ADD c x", T), ("CF.ADDNX c x", F), ("CF.ADDNX c y", T), ("CF.COUNT c x", 2), ("CF.COUNT none x", 0),
    ("CF.DEL c x", T), ("CF.COUNT c x", 1), ("CF.DEL c absent", F), ("CF.DEL none x", "!Not found"),
    ("CF.EXISTS c x", T), ("CF.MEXISTS c x absent", [T, F]), ("CF.INSERT c ITEMS p q", [T, T]),
    ("CF.INSERTNX c ITEMS p r", "int:[0, 1]"), ("CF.INSERT m NOCREATE ITEMS p", "!ERR not found"), ("CF.COMPACT c", "OK"),
    ("CF.RESERVE full 4 EXPANSION 0", "OK"), ("CF.INSERTNX full ITEMS 1 2 3 4 5", "int:[1, 1, 1, 1, -1]"), ("CF.ADD full 6", "!Filter is full"),
    ("TAMIS.RESERVE t bloom 0.01 1000", "OK"), ("TAMIS.ADD t x", T), ("TAMIS.ADD t x", F), ("TAMIS.MADD t x y", [F, T]),
    ("TAMIS.EXISTS t x", T), ("TAMIS.EXISTS none x", F), ("TAMIS.MEXISTS t x absent", [T, F]), ("TAMIS.CARD t", 2),
    ("TAMIS.EXISTS s x", "!WRONGTYPE Operation against a key holding the wrong kind of value"),
    ("TAMIS.DEL t x", "!ERR a value of mode SET cannot delete"), ("TAMIS.ADD none x", "!ERR not found"),
    ("TAMIS.RESERVE tb bloom 0.01 1000 MODE MULTI", "OK"), ("TAMIS.DEL tb x", "!ERR bloom cannot delete"),
    ("TAMIS.RESERVE tm evergreen 0.01 1000 MODE MULTI", "OK"), ("TAMIS.ADD tm x", T), ("TAMIS.ADD tm x", F), ("TAMIS.COUNT tm x", 2),
    ("TAMIS.DEL tm x", T), ("TAMIS.DEL tm x", T), ("TAMIS.EXISTS tm x", F),
    ("TAMIS.RESERVE bad acf-cuckooing 0.01 10", "!ERR acf-cuckooing is not offered: its hints are not saved, so that replicas would go apart"),
    ("TAMIS.RESERVE bad bloom 0.01 10 MODE what", "!ERR bad mode 'what'"), ("TAMIS.RESERVE bad bloom 2 10", "!ERR bad error rate"),
    ("TAMIS.RESERVE bad bloom 0.01 0", "!ERR bad capacity"), ("TAMIS.RESERVE bad bloom 0.01 10 HUH", "!ERR bad argument 'HUH'"),
    ("TAMIS.RESERVE bad abf 0.01 10 MISTAKES 5", "!ERR abf adapts in its table, which mode SET does not allow: MISTAKES 0 or MODE MULTI"),
    ("TAMIS.RESERVE bad acf-cyclic 0.01 10 MODE MULTI OPT mirror file", "!ERR option mirror=file: a mirror has to be in memory here"),
    ("TAMIS.RESERVE bad acf-swapping 0.01 10", "!ERR acf-swapping changes fingerprints when it makes room, so that an add which "
     "stores nothing may be lost: MODE MULTI"),
    ("TAMIS.CHECK t absent", [0]), ("TAMIS.MISTAKE t absent x", [b"negative", b"unfixable"]),
    ("TAMIS.RESERVE u bloom 0.01 1000", "OK"), ("TAMIS.ADD u other", T), ("TAMIS.MERGE u t", "OK"), ("TAMIS.MEXISTS u x y other", [T, T, T]),
    ("TAMIS.MERGE u tm", "!ERR the two values have different modes"), ("TAMIS.MERGE u none", "!ERR not found"),
    ("TAMIS.DUMP t 9", "!ERR no such part"), ("TAMIS.DUMP t 18446744073709551615", "!ERR no such part"),
    ("TAMIS.RANGE t x", "!ERR this value does not adapt with digests: a taf, utaf or exaf in MODE MULTI without MISTAKES does"),
    ("TAMIS.RANGE none x", "!ERR not found"), ("TAMIS.RESERVE ta taf 0.01 100 MODE MULTI", "OK"),
    ("TAMIS.ADAPT ta x VERSION 9 DIGESTS", "!ERR the value has changed: ask TAMIS.RANGE again"),
    ("TAMIS.ADAPT ta x VERSION 0 DIGESTS 12", "!ERR bad digest '12'"), ("TAMIS.ADAPT ta x VERSION 0 DIGESTS", b"negative"),
    ("TAMIS.ADAPT ta x WHAT 0 DIGESTS", "!ERR syntax: TAMIS.ADAPT key item VERSION v DIGESTS digest..."),
    ("CF.DEBUG full", b"bktsize:2 buckets:30 items:4 deletes:0 filters:1 max_iterations:20 expansion:0"), ("BF.DEBUG none", "!ERR not found"),
]


def used(c):
    return int(server.field(c("INFO", "memory").decode(), "used_memory"))


def told_overhead(c, key):
    """What MEMORY USAGE counts for the key itself."""
    return c("MEMORY", "USAGE", key) - dict(zip(*[iter(c("TAMIS.INFO", key))] * 2))[b"bytes"]


def in_resp2(reply):
    if isinstance(reply, bool):
        return int(reply)
    if isinstance(reply, list):
        return [in_resp2(r) for r in reply]
    if isinstance(reply, dict):
        return list(reply.values())
    return reply


class Replies(unittest.TestCase):
    def run_table(self, resp):
        with server.Server() as s:
            c = s.client(resp)
            c("SET", "s", "text")
            for words, expected in TABLE:
                if isinstance(expected, str) and expected.startswith("int:"):
                    expected = eval(expected[4:])
                elif resp == 2:
                    expected = in_resp2(expected)
                with self.subTest(words=words, resp=resp):
                    try:
                        got = c(*words.split())
                    except server.Error as e:
                        got = "!" + str(e)
                    if isinstance(got, list):
                        got = ["!" + str(g) if isinstance(g, server.Error) else g for g in got]
                    self.assertEqual(got, expected)
                    self.assertIs(type(got), type(expected))
            self.assertEqual(c("PING"), "PONG")

    def test_table_in_resp2(self):
        self.run_table(2)

    def test_table_in_resp3(self):
        self.run_table(3)

    def test_commands_name_their_key(self):
        with server.Server() as s:
            c = s.client()
            self.assertEqual(c("COMMAND", "GETKEYS", "TAMIS.MADD", "k", "a", "b"), [b"k"])
            self.assertEqual(c("COMMAND", "GETKEYS", "TAMIS.MERGE", "k", "a", "b"), [b"k", b"a", b"b"])

    def test_dump_and_load(self):
        with server.Server() as s:
            c = s.client()
            for make, dump, load in (("BF.RESERVE", "BF.SCANDUMP", "BF.LOADCHUNK"), ("CF.RESERVE", "CF.SCANDUMP", "CF.LOADCHUNK")):
                key = make
                c(make, key, *(["0.01", 5_000_000] if make[0] == "B" else [80_000_000]))
                c(make.split(".")[0] + ".INSERT", key, "ITEMS", *range(1000))
                at, parts = 0, 0
                while True:
                    at, data = c(dump, key, at)
                    if at == 0:
                        self.assertEqual(data, b"" if make[0] == "B" else None)
                        break
                    self.assertEqual(c("EXISTS", key + "2"), 0)  # whole or not at all
                    self.assertEqual(c(load, key + "2", at, data), "OK")
                    parts += 1
                self.assertGreaterEqual(parts, 1)
                self.assertEqual(c("DEBUG", "DIGEST-VALUE", key), c("DEBUG", "DIGEST-VALUE", key + "2"))
            self.assertGreater(parts, 1)

    def test_abandoned_parts_are_dropped(self):
        with server.Server("--tamis.load-timeout-ms", "2000") as s:
            c = s.client()
            c("CF.RESERVE", "big", 80_000_000)
            parts, first = c("TAMIS.DUMP", "big", 0)
            self.assertGreater(parts, 1)
            before = used(c)
            for i in range(8):
                self.assertEqual(c("TAMIS.LOAD", f"copy{i}", first), parts - 1)
            self.assertGreater(used(c) - before, 8 * (15 << 20))
            self.assertIn("too many", c.error("TAMIS.LOAD", "copy8", first))
            for _ in range(50):
                time.sleep(0.1)
                if used(c) - before < 20 << 20:  # the buffers of this client
                    break
            else:
                self.fail("the parts stay")
            self.assertIn("in order", c.error("TAMIS.LOAD", "copy0", c("TAMIS.DUMP", "big", 1)[1]))
            for i in range(parts):
                self.assertEqual(c("TAMIS.LOAD", "copy0", c("TAMIS.DUMP", "big", i)[1]), parts - 1 - i)
            self.assertEqual(c("DEBUG", "DIGEST-VALUE", "big"), c("DEBUG", "DIGEST-VALUE", "copy0"))

    def test_adapting_with_an_index_of_digests(self):
        for name in ("taf", "utaf", "exaf"):
            with self.subTest(filter=name), server.Server() as s, server.Server() as replica:
                c, r = s.client(), replica.client()
                r("REPLICAOF", "127.0.0.1", s.port)
                c("TAMIS.RESERVE", "f", name, 0.1, 1000, "MODE", "MULTI")
                index = sorted(c("TAMIS.RANGE", "f", i)[1] for i in range(900))  # hexadecimal order is the order of digests
                c("TAMIS.MADD", "f", *range(900))
                wrong = [f"a{i}" for i in range(2000) if c("TAMIS.EXISTS", "f", f"a{i}")]
                self.assertGreater(len(wrong), 50)
                results = []
                for item in wrong:
                    before = c("DEBUG", "DIGEST-VALUE", "f")
                    version, _, *bounds = c("TAMIS.RANGE", "f", item)
                    self.assertEqual(c("DEBUG", "DIGEST-VALUE", "f"), before)  # a question changes nothing
                    near = sorted({d for a, b in zip(bounds[::2], bounds[1::2]) for d in index if a <= d <= b})
                    results.append(c("TAMIS.ADAPT", "f", item, "VERSION", version, "DIGESTS", *near))
                self.assertGreater(results.count(b"fixed"), 0.8 * len(wrong), results)
                self.assertTrue(all(c("TAMIS.MEXISTS", "f", *range(900))))
                self.assertLess(sum(c("TAMIS.MEXISTS", "f", *wrong)), 0.6 * len(wrong))  # later fixes may undo earlier ones
                server.wait_in_sync(c, r)
                self.assertEqual(c("DEBUG", "DIGEST-VALUE", "f"), r("DEBUG", "DIGEST-VALUE", "f"))

    def test_info_section(self):
        with server.Server("--tamis.adapt-grace-ms", "0") as s:
            c = s.client()
            c("TAMIS.RESERVE", "f", "bloom", 0.5, 100, "MISTAKES", 100)
            c("TAMIS.MADD", "f", *range(100))
            c("COPY", "f", "g")
            maybes = sum(c("TAMIS.MEXISTS", "f", *(f"a{i}" for i in range(100))))
            time.sleep(0.01)
            fixed = c("TAMIS.MISTAKE", "f", *(f"a{i}" for i in range(100))).count(b"fixed")
            self.assertGreater(fixed, 5)
            told = {n: int(server.field(c("INFO", "tamis").decode(), "tamis_" + n)) for n in (
                "values", "bytes", "keys", "adds", "checks", "maybes", "mistakes_reported", "mistakes_fixed", "load_failures", "longest_add_us")}
            keys = c("TAMIS.CARD", "f")
            self.assertEqual(told | {"longest_add_us": 0}, {
                "values": 2, "bytes": c("MEMORY", "USAGE", "f") + c("MEMORY", "USAGE", "g") - told_overhead(c, "f") - told_overhead(c, "g"),
                "keys": 2 * keys, "adds": keys, "checks": 100, "maybes": maybes, "mistakes_reported": 100, "mistakes_fixed": fixed,
                "load_failures": 0, "longest_add_us": 0})
            c("FLUSHALL")
            self.assertEqual([server.field(c("INFO", "tamis").decode(), "tamis_" + n) for n in ("values", "bytes", "keys")], ["0"] * 3)

    def test_settings(self):
        with server.Server("--tamis.bf-error-rate", "0.001", "--tamis.bf-capacity", "5000", "--tamis.cf-capacity", "3000") as s:
            c = s.client()
            c("BF.ADD", "b", "x")
            c("CF.ADD", "c", "x")
            self.assertEqual(float(dict(zip(*[iter(c("TAMIS.INFO", "b"))] * 2))[b"rate asked"]), 0.001)
            self.assertGreaterEqual(c("BF.INFO", "b", "CAPACITY")[0], 5000)
            self.assertEqual(c("CONFIG", "GET", "tamis.bf-error-rate"), [b"tamis.bf-error-rate", b"0.001"])
            self.assertIn("above 0 and below 1", c.error("CONFIG", "SET", "tamis.bf-error-rate", "2"))
            self.assertEqual(c("CONFIG", "GET", "tamis.bf-error-rate")[1], b"0.001")
        with server.Server("--tamis.compat", "no") as s:
            c = s.client()
            self.assertIn("unknown command", c.error("BF.ADD", "b", "x"))
            self.assertEqual(c("TAMIS.RESERVE", "b", "bloom", 0.01, 10), "OK")

    def test_commands_are_described(self):
        with server.Server() as s:
            c = s.client(3)
            names = [n for n in c("COMMAND", "LIST") if n.split(b".")[0] in (b"tamis", b"bf", b"cf")]
            self.assertEqual(len(names), 41)
            for name, told in c("COMMAND", "DOCS", *names).items():
                self.assertTrue(told[b"summary"] and told[b"complexity"], name)
            self.assertIn("wrong number of arguments", c.error("CF.INFO", "a", "b"))
            c("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+bf.exists")
            c("BF.ADD", "b", "x")
            c("AUTH", "reader", "any")
            self.assertEqual(c("BF.EXISTS", "b", "x"), True)
            self.assertIn("NOPERM", c.error("BF.ADD", "b", "y"))

    def test_redis_py_wrappers(self):
        import redis
        with server.Server() as s:
            r = redis.Redis(port=s.port)
            bf, cf = r.bf(), r.cf()
            self.assertTrue(bf.create("b", 0.01, 1000))
            self.assertEqual(bf.add("b", "x"), 1)
            self.assertEqual(bf.madd("b", "x", "y"), [0, 1])
            self.assertEqual(bf.insert("b", ["z"]), [1])
            self.assertEqual(bf.exists("b", "x"), 1)
            self.assertEqual(bf.mexists("b", "x", "none"), [1, 0])
            self.assertEqual(bf.info("b").insertedNum, 3)
            chunk = bf.scandump("b", 0)
            self.assertTrue(bf.loadchunk("b2", *chunk))
            self.assertEqual(bf.exists("b2", "z"), 1)
            self.assertTrue(cf.create("c", 1000))
            self.assertEqual([cf.add("c", "x"), cf.addnx("c", "x"), cf.count("c", "x"), cf.exists("c", "x"), cf.delete("c", "x")], [1, 0, 1, 1, 1])
            self.assertEqual(cf.insert("c", ["p", "q"]), [1, 1])
            self.assertEqual(cf.insertnx("c", ["p", "r"]), [0, 1])
            self.assertEqual(cf.info("c").insertedNum, 3)


if __name__ == "__main__":
    unittest.main()
