"""tamis remote as its users meet it, on a cluster that ./run redis-cluster has started."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import cluster
import server

sys.path.insert(0, str(cluster.ROOT / "integrations" / "redis"))
import remote  # noqa: E402: the example

MAGIC = b"TAMIS\r\n\x1a"


def lines(items):
    return b"".join(b"%s\n" % str(i).encode() for i in items)


def filter_in(client, key):
    """The saved filter inside of a saved value: a value's frame begins as a filter's does, and has it inside."""
    parts, part = client("TAMIS.DUMP", key, 0)
    total, offset = struct.unpack_from("<QQ", part)
    whole = part[16:] + b"".join(client("TAMIS.DUMP", key, i)[1][16:] for i in range(1, parts))
    assert offset == 0 and len(whole) == total
    return whole[whole.index(MAGIC, 8):]


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.on = cluster.Cluster()

    @classmethod
    def tearDownClass(cls):
        cls.on.__exit__()

    def create(self, name, *more, filter="evergreen", capacity=20_000, fpr=0.01, shards=16):
        self.on.tool("create", name, "--filter", filter, "--capacity", capacity, "--fpr", fpr, "--shards", shards, *more)
        self.addCleanup(lambda: self.on.tool("drop", name))

    def shard_keys(self, name, shards=16):
        return remote.shard_keys(name.encode(), shards)

    def owner(self, key):
        slot = remote.slot_of(re.search(rb"{(.*)}", key)[1])
        for row in self.on.ask(self.on.first, "CLUSTER", "SLOTS"):
            if row[0] <= slot <= row[1]:
                return row[2][1]

    def json(self, *words, **more):
        return json.loads(self.on.tool(*words, "--json", "-", **more))

    def test_commands_on_servers_prints_three_commands(self):
        said = "".join(self.on.said)
        self.assertEqual(len(re.findall(r"^  .*\./run remote", said, re.M)), 3)

    def test_add_check_verify(self):
        self.create("f")
        told = self.json("add", "f", stdin=lines(range(20_000)))
        self.assertEqual((told["added"] + told["present"], told["replicas"]), (20_000, 1))
        self.assertEqual(self.on.tool("check", "f", "-v", stdin=lines(range(20_000))), b"")
        asked = [*range(19_990, 20_000), *(f"absent {i}" for i in range(2000)), *range(10)]
        found = self.on.tool("check", "f", stdin=lines(asked)).decode().splitlines()
        self.assertEqual([k for k in found if not k.startswith("absent")], [str(k) for k in asked if isinstance(k, int)])  # in order
        wrong = len(found) - 20
        self.assertLess(wrong, 2000 * 0.01 + 6 * (2000 * 0.01) ** 0.5)
        self.assertEqual(self.on.tool("check", "f", "-c", stdin=lines(asked)).decode(), f"maybe {len(found)}\nno {len(asked) - len(found)}\n")
        self.assertEqual(self.json("verify", "f", stdin=lines(range(20_000))), {"asked": 20_000, "missing": 0})
        missing = self.json("verify", "f", stdin=lines(range(30_000)))["missing"]
        self.assertGreater(missing, 9_700)
        self.assertEqual(self.on.tool("check", "f", "-v", stdin=lines(range(30_000))), b"")

    def test_nul_separated_and_odd_keys(self):
        self.create("odd")
        keys = [b"", b"a\nb", b"\xff\xfe", b"x" * 100_000, b"$5\r\nhello"]
        self.on.tool("add", "odd", "-0", stdin=b"".join(k + b"\0" for k in keys))
        self.assertEqual(self.on.tool("check", "odd", "-0", stdin=b"".join(k + b"\0" for k in keys)), b"".join(k + b"\0" for k in keys))

    def test_info_and_metrics(self):
        self.create("told", "--mistakes", 160)
        self.on.tool("add", "told", stdin=lines(range(5000)))
        told = self.json("info", "told")
        self.assertEqual((told["shards"], told["capacity"], told["mode"], len(told["nodes"])), (16, 20_000, "SET", 3))
        self.assertEqual(sum(n["shards"] for n in told["nodes"]), 16)
        self.assertEqual(told["keys"], sum(self.on.ask(self.owner(k), "TAMIS.CARD", k) for k in self.shard_keys("told")))
        page = self.on.tool("metrics", "told").decode()
        for line in page.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) tamis_remote_\w+ .+|tamis_remote_\w+\{filter="told"(,node="127\.0\.0\.1:\d+")?\} [-+.e\d]+)$')
        self.assertEqual(sum(int(n) for n in re.findall(r"^tamis_remote_keys\{.*\} (\d+)$", page, re.M)), told["keys"])
        self.assertEqual(len(set(re.findall(r"^# TYPE (\w+)", page, re.M))), 11)

    def test_mistakes(self):
        for port in self.on.ports:
            self.on.ask(port, "CONFIG", "SET", "tamis.adapt-grace-ms", 0)
        self.create("m", "--mistakes", 16_000, fpr=0.2, filter="bloom")
        self.on.tool("add", "m", stdin=lines(range(20_000)))
        absent = lines(f"absent {i}" for i in range(5000))
        wrong = self.on.tool("check", "m", stdin=absent)
        self.assertGreater(wrong.count(b"\n"), 300)
        words = self.json("mistake", "m", stdin=absent)
        self.assertEqual(words["fixed"], wrong.count(b"\n"))
        self.assertEqual(words["fixed"] + words["negative"], 5000)
        self.assertEqual(self.on.tool("check", "m", stdin=absent), b"")
        self.assertEqual(self.on.tool("check", "m", "-v", stdin=lines(range(20_000))), b"")

    def test_equal_to_local_filters_byte_for_byte(self):
        """Each shard is the filter that `tamis create` and `tamis add` make of its keys, and a lone server makes."""
        shards, capacity = 4, 20_000
        keys = list(range(15_000))
        for filter, mode in (("evergreen", "multi"), ("cuckoo", "multi"), ("evergreen", "set")):
            with self.subTest(filter=filter, mode=mode), tempfile.TemporaryDirectory() as folder, server.Server() as lone:
                name = f"eq-{filter}-{mode}"
                self.create(name, "--mode", mode, "--seed", "5eed", filter=filter, capacity=capacity, shards=shards)
                self.on.tool("add", name, stdin=lines(keys))
                c = lone.client()
                share = self.json("create", "other", "--filter", filter, "--capacity", capacity, "--fpr", "0.01", "--shards", shards)["shard_capacity"]
                self.on.tool("drop", "other")
                for shard, key in enumerate(self.shard_keys(name, shards)):
                    mine = [k for k in keys if remote.shard_of(str(k).encode(), shards) == shard]
                    there = self.on.client(self.owner(key))
                    c("TAMIS.RESERVE", key, filter, 0.01, share, "MODE", mode.upper(), "SEED", "5eed")
                    answers = [c("TAMIS.MADD", key, *mine[i:i + 500]) for i in range(0, len(mine), 500)]
                    self.assertEqual(there("DEBUG", "DIGEST-VALUE", key), c("DEBUG", "DIGEST-VALUE", key))
                    self.assertEqual(filter_in(there, key), filter_in(c, key))
                    if mode == "multi":
                        local = pathlib.Path(folder) / f"{shard}.tamis"
                        run = lambda *w, **more: subprocess.run([cluster.TOOL, *map(str, w)], check=True, capture_output=True, **more)
                        run("create", local, "--filter", filter, "--capacity", share, "--fpr", 0.01, "--seed", "5eed")
                        run("add", local, input=lines(mine))
                        self.assertEqual(filter_in(there, key), local.read_bytes())
                    self.assertEqual(sum(map(len, answers)), len(mine))
                    there.close()

    def test_python_example(self):
        self.create("py")
        run = [sys.executable, str(cluster.ROOT / "integrations/redis/remote.py"), self.on.address(), "py"]
        subprocess.run([*run, "add"], input=lines(range(3000)), check=True)
        self.assertEqual(self.on.tool("check", "py", "-v", stdin=lines(range(3000))), b"")
        asked = lines(range(2500, 9000))
        theirs = subprocess.run([*run, "check"], input=asked, check=True, capture_output=True).stdout
        self.assertEqual(theirs, self.on.tool("check", "py", stdin=asked))
        self.assertGreaterEqual(theirs.count(b"\n"), 500)

    def test_python_example_and_vectors(self):
        seen = 0
        for line in (cluster.ROOT / "integrations/redis/remote_vectors.txt").read_text().splitlines():
            words = line.split()
            if words[0] == "item":
                item = b"" if words[1] == "-" else bytes.fromhex(words[1])
                self.assertEqual(remote.shard_of(item, int(words[2])), int(words[3]), line)
            elif words[0] == "shard":
                self.assertEqual(remote.shard_keys(words[1].encode(), int(words[2]))[int(words[3])].decode(), words[5], line)
            else:
                continue
            seen += 1
        self.assertGreater(seen, 60)

    def test_nothing_is_overwritten_or_half_made(self):
        self.create("twice")
        self.assertIn("filter of that name already", self.on.tool("create", "twice", "--filter", "bloom", "--capacity", 10, "--fpr", 0.1, code=1))
        # A key that is in the way of a shard: nothing is made, and the key stays.
        key = self.shard_keys("way")[7]
        self.on.ask(self.owner(key), "SET", key, "mine")
        self.assertIn(f"{key.decode()}: there is such a key", self.on.tool("create", "way", "--filter", "bloom", "--capacity", 10, "--fpr", 0.1,
                                                                            "--shards", 16, code=1))
        self.assertEqual(self.on.ask(self.owner(key), "GET", key), b"mine")
        self.on.ask(self.owner(key), "DEL", key)
        # A node that cannot make its shards: they are gone everywhere.
        for port in self.on.ports:
            self.on.ask(port, "CONFIG", "SET", "tamis.memory-limit", "1mb" if port == self.on.masters()[2] else "128mb")
        try:
            why = self.on.tool("create", "half", "--filter", "bloom", "--capacity", "30M", "--fpr", 0.01, "--shards", 16, code=1)
            self.assertRegex(why, rf"tamis: 127\.0\.0\.1:{self.on.masters()[2]}: half:\{{\d+\}}: ERR .*memory")
        finally:
            for port in self.on.ports:
                self.on.ask(port, "CONFIG", "SET", "tamis.memory-limit", "128mb")
        left = [k for port in self.on.masters() for k in self.on.ask(port, "KEYS", "*half*") + self.on.ask(port, "KEYS", "*way*")]
        self.assertEqual(left, [])

    def test_a_missing_shard_is_an_error(self):
        self.create("hole")
        self.on.tool("add", "hole", stdin=lines(range(1000)))
        key = self.shard_keys("hole")[3]
        self.on.ask(self.owner(key), "DEL", key)
        for command in ("check", "add", "verify"):
            why = self.on.tool(command, "hole", stdin=lines(range(1000)), code=1)
            self.assertIn(f"127.0.0.1:{self.owner(key)}: {key.decode()}: ERR not found", why)
        self.assertRegex(why, r"verified 0 of the [\d,]+ keys? read for certain, the first 0 without a gap")

    def test_a_full_filter_says_what_is_in(self):
        self.create("full", filter="cuckoo", capacity=1000, shards=1)
        why = self.on.tool("add", "full", stdin=lines(range(200_000)), code=1)
        done, gapless = (int(n.replace(",", "")) for n in re.search(r"added ([\d,]+) of .* the first ([\d,]+) without", why).groups())
        self.assertIn("filter is full", why)
        self.assertGreater(done, 900)
        self.assertEqual(self.on.tool("check", "full", "-v", stdin=lines(range(gapless))), b"")
        self.assertGreaterEqual(self.on.tool("check", "full", stdin=lines(range(200_000))).count(b"\n"), done)

    def test_wrong_usage(self):
        on = self.on
        self.assertIn("no such filter", on.tool("info", "nobody", code=1))
        self.assertIn("must be HOST:PORT", on.tool("info", "f", cluster="nowhere", code=1))
        self.assertRegex(on.tool("info", "f", cluster="127.0.0.1:1", code=1), "127.0.0.1:1: Connection refused")
        self.assertIn("without spaces or braces", on.tool("info", "a{b}", code=1))
        self.assertIn("power of two", on.tool("create", "x", "--filter", "bloom", "--capacity", 10, "--fpr", 0.1, "--shards", 3, code=1))
        self.assertIn("unknown", on.tool("create", "x", "--filter", "what", "--capacity", 10, "--fpr", 0.1, code=1))
        self.assertIn("must be set or multi", on.tool("create", "x", "--filter", "bloom", "--capacity", 10, "--fpr", 0.1, "--mode", "x", code=1))
        for given in (["--cluster", ""], ["--cluster="], ["--patience", "", "--cluster", "a:1"], ["", "--cluster", "a:1"]):
            done = subprocess.run([cluster.TOOL, "remote", "add", *(["x"] if given[0] else []), *given], input=b"", capture_output=True)
            self.assertEqual(done.returncode, 1, given)
            self.assertRegex(done.stderr.decode(), r"^tamis: \S+ '': must not be empty\n$", given)
        self.create("few")
        self.assertIn("has not 2 replicas in sync", on.tool("add", "few", "--replicas", 2, "--patience", 2, stdin=b"a\n", code=1))

    def test_a_single_server(self):
        with server.Server() as lone:
            lone.client()("CONFIG", "SET", "requirepass", "secret")
            os.environ["TAMIS_REDIS_PASSWORD"] = "secret"
            try:
                where = self.on.address(lone.port)
                self.on.tool("create", "s", "--filter", "bloom", "--capacity", 1000, "--fpr", 0.01, cluster=where)
                self.on.tool("add", "s", stdin=lines(range(1000)), cluster=where)
                self.assertEqual(self.on.tool("check", "s", "-v", stdin=lines(range(1000)), cluster=where), b"")
                os.environ["TAMIS_REDIS_PASSWORD"] = "wrong"
                self.assertIn("WRONGPASS", self.on.tool("info", "s", cluster=where, code=1))
            finally:
                del os.environ["TAMIS_REDIS_PASSWORD"]
            self.assertIn("NOAUTH", self.on.tool("info", "s", cluster=where, code=1))

    def test_a_server_without_the_module(self):
        with server.Server(module=False) as plain:
            why = self.on.tool("create", "s", "--filter", "bloom", "--capacity", 1000, "--fpr", 0.01, cluster=self.on.address(plain.port), code=1)
            self.assertIn("unknown command 'TAMIS.RESERVE'", why)
            self.assertEqual(plain.client()("KEYS", "*"), [])

    def test_examples_in_the_help_work(self):
        listed = subprocess.run([cluster.TOOL, "remote", "--help"], check=True, capture_output=True, text=True).stdout
        commands = re.findall(r"^  (\w+)  ", listed.split("Subcommands:\n")[1].split("\n\n")[0], re.M)
        self.assertEqual(commands[0], "create")
        for command in commands:
            text = subprocess.run([cluster.TOOL, "remote", command, "--help"], check=True, capture_output=True, text=True).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80, command)
            self.assertIn("--json FILE|-", text)
            script = re.search(r"\nExample:\n((  .*\n)+)\Z", text)[1].replace("127.0.0.1:7000", self.on.address())
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], capture_output=True,
                                  env={**os.environ, "PATH": os.path.dirname(cluster.TOOL) + ":" + os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            self.assertNotEqual(done.stdout, b"", command)


if __name__ == "__main__":
    unittest.main()
