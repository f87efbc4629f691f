"""A large filter over six servers: filled, asked and resharded once, with the CPU time of each step. cluster_bench.py [KEYS]

TAMIS_REDIS_MODULE=tamis.so TAMIS_TOOL=tamis python3 cluster_bench.py 100000000. Not a test: docs/redis.md has figures of one machine."""

import os
import resource
import subprocess
import sys
import time

import cluster

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
FPR = 0.01


class Step:
    """CPU seconds of masters, replicas and the tool while it lasts."""

    def __init__(self, on, what, items):
        self.on, self.what, self.items = on, what, items

    def nodes(self):
        return {port: self.on.cpu(port) / 1000 for port in self.on.ports}

    def __enter__(self):
        self.masters = self.on.masters()
        self.before, self.tool, self.began = self.nodes(), resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()

    def __exit__(self, *_):
        wall, after, tool = time.monotonic() - self.began, self.nodes(), resource.getrusage(resource.RUSAGE_CHILDREN)
        used = {port: after[port] - self.before[port] for port in after}
        masters = [used[p] for p in self.masters]
        replicas = [used[p] for p in used if p not in self.masters]
        client = tool.ru_utime + tool.ru_stime - self.tool.ru_utime - self.tool.ru_stime
        print(f"{self.what}: {wall:.1f} s by the clock; CPU: masters {', '.join(f'{s:.1f}' for s in masters)} s, replicas {sum(replicas):.1f} s, "
              f"tool and seq {client:.1f} s; {1e9 * sum(masters) / self.items:.0f} ns of a master an item, "
              f"{self.items / max(masters) / 1e6:.2f} M items per CPU second of the busiest node's share of all", flush=True)


def piped(on, command, first, last, *flags):
    seq = subprocess.Popen(["seq", str(first), str(last)], stdout=subprocess.PIPE)
    done = subprocess.run([cluster.TOOL, "remote", command, "big", "--cluster", on.addresses(), *flags], stdin=seq.stdout, check=True,
                          capture_output=True)
    seq.stdout.close()
    seq.wait()
    return done.stdout.decode()


def main():
    with cluster.Cluster() as on:
        on.tool("create", "big", "--filter", "evergreen", "--capacity", KEYS, "--fpr", FPR)
        with Step(on, f"add {KEYS:,}", KEYS):
            print(piped(on, "add", 1, KEYS).strip())
        print(on.tool("info", "big").decode())
        asked = KEYS // 10
        with Step(on, f"check {asked:,} members", asked):
            print(piped(on, "check", 1, asked, "-c").split())
        with Step(on, f"check {asked:,} absent keys", asked):
            print(piped(on, "check", KEYS + 1, KEYS + asked, "-c").split())
        source, target = on.masters()[:2]
        slots = 16384 // 6
        with Step(on, f"reshard {slots} of 16384 slots", slots):
            done = on.redis_cli("reshard", on.address(source), "--cluster-from", on.id_of(source), "--cluster-to", on.id_of(target),
                                "--cluster-slots", slots, "--cluster-yes", "--cluster-timeout", 60_000)
            assert done.returncode == 0, done.stdout[-1000:] + done.stderr
        with Step(on, f"verify {asked:,}", asked):
            print(piped(on, "verify", 1, asked).strip())
        print(on.tool("info", "big").decode())


if __name__ == "__main__":
    main()
