"""A filter over a cluster while masters are killed, slots move, and nodes come and go: no acknowledged key is lost.

Acknowledged is what `tamis remote add` has counted: a replica has it, too. TAMIS_LONG=1 (./check cluster) makes it long, and writes
what it has measured."""

import os
import random
import subprocess
import threading
import time
import unittest

import cluster
import server

LONG = os.environ.get("TAMIS_LONG") == "1"
ROUNDS = 20 if LONG else 1
SEED = 36
NAME = "f"


def lines(items):
    return b"".join(b"%d\n" % i for i in items)


class Worker(threading.Thread):
    """Calls `step` until it is told to stop; a step that fails stops it, too, and is raised where it is joined."""

    def __init__(self, step):
        super().__init__(daemon=True)
        self.step, self.failed, self.ended = step, None, threading.Event()
        self.start()

    def run(self):
        try:
            while not self.ended.is_set():
                self.step()
        except BaseException as e:
            self.failed = e

    def finish(self):
        self.ended.set()
        self.join()
        if self.failed:
            raise self.failed


class Traffic:
    """Adds and asks without pause. All keys below `acknowledged` are in for certain."""

    def __init__(self, on):
        self.on, self.acknowledged, self.asked, self.random = on, 0, 0, random.Random(SEED)
        self.adding, self.asking = Worker(self.add), Worker(self.ask)

    def add(self):
        first = self.acknowledged
        self.on.tool("add", NAME, "--patience", 240, stdin=lines(range(first, first + 500)))
        self.acknowledged = first + 500

    def ask(self):
        first = self.random.randrange(max(1, self.acknowledged - 1000))
        last = min(first + 1000, self.acknowledged)
        lost = self.on.tool("check", NAME, "-v", "--patience", 240, stdin=lines(range(first, last)))
        assert lost == b"", f"lost: {lost[:100]}"
        self.asked += last - first
        time.sleep(0.05)

    def goes_on(self):
        """Something was acknowledged from now on, and something asked."""
        acknowledged, asked = self.acknowledged, self.asked

        def more():
            if self.adding.failed or self.asking.failed:
                raise AssertionError("traffic has stopped") from (self.adding.failed or self.asking.failed)
            return self.acknowledged > acknowledged and self.asked > asked
        cluster.until(more, "an acknowledged add")

    def finish(self):
        self.adding.finish()
        self.asking.finish()

    def stop(self):
        """Without asking what became of them."""
        for worker in (self.adding, self.asking):
            worker.ended.set()
            worker.join()

    def check_all(self):
        lost = self.on.tool("check", NAME, "-v", stdin=lines(range(self.acknowledged)))
        assert lost == b"", f"{lost.count(b'%c' % 10)} of {self.acknowledged} acknowledged keys are lost"


def kill_a_master(on, rng):
    """Seconds until another node is master in its place. Only then is it started again: a master that comes back sooner, with less
    than it had, is a master still, and its replica takes over what it has (docs/redis.md)."""
    masters = on.masters()
    victim = rng.choice(masters)
    began = time.monotonic()
    on.kill(victim)
    cluster.until(lambda: victim not in on.masters() and len(on.masters()) == len(masters), "a failover")
    took = time.monotonic() - began
    on.start(victim)
    cluster.until(lambda: "role:slave" in on.ask(victim, "INFO", "replication").decode(), "the old master as a replica")
    on.wait_until_whole()
    return took


def reshard(on, rng, slots=300):
    """As people do it, by redis-cli."""
    source, target = rng.sample(on.masters(), 2)
    done = on.redis_cli("reshard", on.address(source), "--cluster-from", on.id_of(source), "--cluster-to", on.id_of(target),
                        "--cluster-slots", slots, "--cluster-yes")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    on.wait_until_whole()


def add_a_pair(on):
    """One more master and its replica; slots move to it."""
    master, replica = on.first + 6, on.first + 7
    for port in (master, replica):
        on.start(port)
    assert on.redis_cli("add-node", on.address(master), on.address()).returncode == 0
    on.ports.append(master)
    cluster.until(lambda: all(len(on.ask(p, "CLUSTER", "NODES").splitlines()) == 7 for p in on.ports), "a new node that all know")
    done = on.redis_cli("add-node", on.address(replica), on.address(), "--cluster-slave", "--cluster-master-id", on.id_of(master))
    assert done.returncode == 0, done.stdout
    on.ports.append(replica)
    on.wait_until_whole()
    cluster.until(lambda: on.redis_cli("rebalance", on.address(), "--cluster-use-empty-masters").returncode == 0, "slots for the new node")
    on.wait_until_whole()
    assert master in on.masters()


def remove_the_pair(on):
    """Whoever of the two is master gives its slots away; then both leave."""
    pair = [on.first + 6, on.first + 7]
    leaving = next(p for p in on.masters() if p in pair)
    target = next(p for p in on.masters() if p not in pair)
    slots = next(row[4] for row in on.nodes() if row[0] == leaving)
    done = on.redis_cli("reshard", on.address(), "--cluster-from", on.id_of(leaving), "--cluster-to", on.id_of(target), "--cluster-slots",
                        slots, "--cluster-yes")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    on.wait_until_whole()
    for port in sorted(pair, key=lambda p: p == leaving):  # the replica first
        assert on.redis_cli("del-node", on.address(), on.id_of(port)).returncode == 0
        on.ports.remove(port)
    on.wait_until_whole()


class ClusterProof(unittest.TestCase):
    def test_nothing_acknowledged_is_lost(self):
        rng = random.Random(SEED)
        began = time.monotonic()
        with cluster.Cluster() as on:
            on.tool("create", NAME, "--filter", "evergreen", "--capacity", 10_000, "--fpr", "0.001", "--shards", 64)
            traffic = Traffic(on)
            self.addCleanup(traffic.stop)
            failovers = []
            for i in range(ROUNDS):
                failovers.append(kill_a_master(on, rng))
                traffic.goes_on()
                reshard(on, rng)
                traffic.goes_on()
                if LONG and i == ROUNDS // 3:
                    add_a_pair(on)
                    traffic.goes_on()
                if LONG and i == 2 * ROUNDS // 3:
                    remove_the_pair(on)
                    traffic.goes_on()
                if LONG:
                    print(f"{i + 1} kills and reshards, {traffic.acknowledged} keys acknowledged, {traffic.asked} asked for", flush=True)
            traffic.finish()
            traffic.check_all()
            self.assertGreater(traffic.acknowledged, 1000)
            for port in on.ports:
                self.assertNotIn("crashed by signal", on.log(port))
            print(f"{ROUNDS} kills, {ROUNDS} reshards: {traffic.acknowledged} keys acknowledged, {traffic.asked} asked for, 0 lost; failover "
                  f"{min(failovers):.1f} to {max(failovers):.1f} s; {time.monotonic() - began:.0f} s in all")

    def test_the_tool_follows_a_slot_that_moves(self):
        """In between IMPORTING and NODE: the shard is on either side (ASK), and then moved (MOVED)."""
        with cluster.Cluster() as on:
            on.tool("create", NAME, "--filter", "evergreen", "--capacity", 1000, "--fpr", "0.001", "--shards", 1)
            on.tool("add", NAME, stdin=lines(range(500)))
            source = next(p for p in on.masters() if on.ask(p, "KEYS", NAME + ":*"))
            target = next(p for p in on.masters() if p != source)
            key = on.ask(source, "KEYS", NAME + ":*")[0].decode()
            slot = on.ask(source, "CLUSTER", "KEYSLOT", key)
            on.ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", on.id_of(source))
            on.ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", on.id_of(target))
            on.tool("add", NAME, stdin=lines(range(500, 600)))  # still here
            keys = on.ask(source, "CLUSTER", "GETKEYSINSLOT", slot, 10)
            on.ask(source, "MIGRATE", "127.0.0.1", target, "", 0, 60_000, "KEYS", *keys)
            on.tool("add", NAME, stdin=lines(range(600, 700)))  # ASK
            self.assertEqual(on.tool("check", NAME, "-v", stdin=lines(range(700))), b"")
            self.assertEqual(on.ask(source, "CLUSTER", "COUNTKEYSINSLOT", slot), 0)
            for port in (target, source, *on.masters()):
                on.ask(port, "CLUSTER", "SETSLOT", slot, "NODE", on.id_of(target))
            on.tool("add", NAME, stdin=lines(range(700, 800)))  # MOVED, or known
            self.assertEqual(on.tool("check", NAME, "-v", stdin=lines(range(800))), b"")

    @unittest.skipUnless(LONG, "moves 64 MB")
    def test_moving_large_shards(self):
        """How long two nodes answer nobody while a shard of 8 or 64 MB moves: CPU time, and by the clock what others wait for."""
        # Nobody takes over while a node is silent: on a busy machine that would be long.
        with cluster.Cluster("cluster-node-timeout 120000") as on:
            for parts in (8, 1):
                for filter, capacity in (("evergreen", 39_000_000), ("cuckoo", 24_000_000), ("bloom", 34_000_000)):
                    self.move_one(on, filter, capacity // parts)

    def move_one(self, on, filter, capacity):
        keys = int(0.9 * capacity)
        on.tool("create", filter, "--filter", filter, "--capacity", capacity, "--fpr", "0.001", "--shards", 1)
        with subprocess.Popen(["seq", str(keys)], stdout=subprocess.PIPE) as seq:
            subprocess.run([cluster.TOOL, "remote", "add", filter, "--cluster", on.addresses()], stdin=seq.stdout, check=True,
                           capture_output=True)
        source = next(p for p in on.masters() if on.ask(p, "KEYS", filter + ":*"))
        target = next(p for p in on.masters() if p != source)
        key = on.ask(source, "KEYS", filter + ":*")[0].decode()
        size = on.ask(source, "MEMORY", "USAGE", key)
        slot = on.ask(source, "CLUSTER", "KEYSLOT", key)
        cpu = [on.cpu(p) for p in (source, target)]
        wall = on.move_slot(slot, source, target)
        used = [after - before for before, after in zip(cpu, (on.cpu(p) for p in (source, target)))]
        print(f"{filter}, {keys} keys, {size / 1e6:.1f} MB: MIGRATE took {1000 * wall:.0f} ms by the clock; CPU {used[0]:.0f} ms at the "
              f"source, {used[1]:.0f} ms at the target", flush=True)
        self.assertEqual(on.tool("check", filter, "-v", stdin=lines(range(1, keys, 97))), b"")
        on.wait_until_whole()
        on.tool("drop", filter)


if __name__ == "__main__":
    unittest.main()
