"""Random commands against a model: no member is ever lost, replicas are equal, and files bring back what was there."""

import os
import random
import time
import unittest

import server

LONG = os.environ.get("TAMIS_LONG") == "1"
ROUNDS = 200 if LONG else 6
SEED = 35
ERASING = ["counting-bloom", "dleft", "rank-indexed", "cuckoo", "ascf", "vacuum", "quotient", "rsqf", "cqf", "taf", "utaf", "exaf",
           "infini", "evergreen", "evergreen-fixed", "abf-counting", "acf-cyclic", "acf-swapping"]
OTHERS = ["bloom", "bloom1", "chain-linear", "chain-geometric", "sacrifice", "abf", "abf-spare", "abf-j"]


class Model:
    """What was acknowledged, per value."""

    def __init__(self, client):
        self.random = random.Random(SEED)
        self.client = client
        self.members = {}
        self.modes = {}
        for name in ERASING + OTHERS:
            for mode in ("MULTI",) if name.startswith("acf") else ("SET", "MULTI"):
                listed = 0 if name.startswith(("acf", "abf")) else 50
                keyed = ["KEYED"] if self.random.random() < 0.3 else []
                client("TAMIS.RESERVE", f"{name}:{mode}", name, 0.1, 150, "MODE", mode, "MISTAKES", listed, *keyed)
        for key, make in (("bf", ["BF.RESERVE", "bf", 0.01, 100]), ("cf", ["CF.RESERVE", "cf", 100])):
            client(*make)
        for key in client("KEYS", "*"):
            self.members[key.decode()] = []

    def kind(self, key):
        return key.split(":")[0]

    def round(self):
        c, r = self.client, self.random
        for key, members in self.members.items():
            prefix = key.split(":")[0][:2] if key in ("bf", "cf") else "TAMIS"
            items = [r.randrange(10 ** 9) for _ in range(r.randrange(1, 30))]
            if len(members) < 2000:
                answers = c("CF.INSERT", key, "ITEMS", *items) if key == "cf" else c(f"{prefix.upper()}.MADD", key, *items)
                members += [i for i, a in zip(items, answers) if not isinstance(a, server.Error)]
            if members and (key == "cf" or (key.endswith("MULTI") and self.kind(key) in ERASING)):
                for _ in range(r.randrange(1, 6)):
                    gone = members.pop(r.randrange(len(members)))
                    assert c("CF.DEL" if key == "cf" else "TAMIS.DEL", key, gone) == 1, (key, gone)
                    if not members:
                        break
            absent = [f"absent{r.randrange(2000)}" for _ in range(20)]
            c("TAMIS.MISTAKE", key, *absent)

    def check(self, client=None):
        for key, members in self.members.items():
            if members:
                answers = (client or self.client)("TAMIS.MEXISTS", key, *members)
                assert all(answers), f"{key}: {answers.count(0)} of {len(members)} members are lost"


def digests(client, keys):
    return {key: client("DEBUG", "DIGEST-VALUE", key)[0] for key in keys}


class Equal(unittest.TestCase):
    def assert_equal(self, a, b):
        self.assertEqual({k for k in a if a[k] != b[k]}, set())

    def test_replicas(self):
        grace = ["--tamis.adapt-grace-ms", "0"]
        # One loads what the master sends straight into memory, beside what it has.
        with server.Server(*grace) as m, server.Server(*grace, "--repl-diskless-load", "swapdb") as r1, server.Server(*grace, environment={"TAMIS_CPU": "portable"}) as r2:
            c, steady, portable = m.client(), r1.client(), r2.client()
            for replica in (steady, portable):
                replica("REPLICAOF", "127.0.0.1", m.port)
            server.wait_in_sync(c, steady, portable)
            model = Model(c)
            for i in range(ROUNDS):
                model.round()
                if i % 2 == 1:  # always resyncing, from the start
                    steady("REPLICAOF", "NO", "ONE")
                    steady("FLUSHALL")
                    steady("REPLICAOF", "127.0.0.1", m.port)
                server.wait_in_sync(c, steady, portable)
                model.check()
                here = digests(c, model.members)
                self.assert_equal(here, digests(steady, model.members))
                self.assert_equal(here, digests(portable, model.members))
                model.check(portable)
            fixed = sum(dict(zip(*[iter(c("TAMIS.INFO", k))] * 2))[b"known mistakes"] for k in model.members)
            self.assertGreater(fixed, 10)  # reports did something: about 80 with the seeds that values draw, 0 if none of them did

    def test_files(self):
        for settings in (["--appendonly", "no"], ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"],
                         ["--appendonly", "yes", "--aof-use-rdb-preamble", "yes"]):
            with self.subTest(settings=settings), server.Server(*settings, "--appendfsync", "always", "--tamis.adapt-grace-ms", "0") as s:
                c = s.client()
                model = Model(c)
                for i in range(ROUNDS // 2):
                    model.round()
                    if settings[1] == "no":
                        c("SAVE")
                    elif i == 1:
                        c("BGREWRITEAOF")
                        while "aof_rewrite_in_progress:1" in c("INFO", "persistence").decode():
                            time.sleep(0.05)
                before = digests(c, model.members)
                s.kill()
                s.restart()
                c = model.client = s.client()
                self.assert_equal(before, digests(c, model.members))
                model.check()
                model.round()
                model.check()

    def test_copies(self):
        with server.Server() as s, server.Server() as other:
            c = s.client()
            model = Model(c)
            model.round()
            for key in model.members:
                c("COPY", key, key + ":copy")
                c("RESTORE", key + ":restored", 0, c("DUMP", key))
                before = c("DEBUG", "DIGEST-VALUE", key)
                self.assertEqual(before, c("DEBUG", "DIGEST-VALUE", key + ":copy"))
                self.assertEqual(before, c("DEBUG", "DIGEST-VALUE", key + ":restored"))
                c("MIGRATE", "127.0.0.1", other.port, key, 0, 5000)
                self.assertEqual(before, other.client()("DEBUG", "DIGEST-VALUE", key))


if __name__ == "__main__":
    unittest.main()
