"""What every command answers, in RESP2 and RESP3, as a table; and what redis-py's wrappers make of it."""

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
    ("TAMIS.RESERVE bad acf-cyclic 0.01 10 OPT mirror file", "!ERR option mirror=file: a mirror has to be in memory here"),
    ("TAMIS.CHECK t absent", [0]), ("TAMIS.MISTAKE t absent x", [b"negative", b"unfixable"]),
    ("TAMIS.RESERVE u bloom 0.01 1000", "OK"), ("TAMIS.ADD u other", T), ("TAMIS.MERGE u t", "OK"), ("TAMIS.MEXISTS u x y other", [T, T, T]),
    ("TAMIS.MERGE u tm", "!ERR the two values have different modes"), ("TAMIS.MERGE u none", "!ERR not found"),
    ("TAMIS.DUMP t 9", "!ERR no such part"),
]


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
                c(make, key, *(["0.01", 5_000_000] if make[0] == "B" else [20_000_000]))
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
