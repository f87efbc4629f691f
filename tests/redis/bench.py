"""Server CPU of the module beside the server's own commands, in one run. TAMIS_REDIS_MODULE=tamis.so python3 bench.py

Not a test: machines differ. docs/redis.md has figures of one."""

import statistics
import time

import server

KEYS = 1_000_000
ASKED = 400_000


def cpu(c):
    info = c("INFO", "cpu").decode()
    return float(server.field(info, "used_cpu_user")) + float(server.field(info, "used_cpu_sys"))


def cost(c, commands, pipeline=64):
    """Server CPU per command in microseconds; what is sent was packed before."""
    packs = [(b"".join(c.packed(w) for w in commands[i:i + pipeline]), len(commands[i:i + pipeline])) for i in range(0, len(commands), pipeline)]
    before = cpu(c)
    for data, count in packs:
        c.socket.sendall(data)
        for _ in range(count):
            c.read()
    return 1e6 * (cpu(c) - before) / len(commands)


def fill(c, command, key, count, step=5000):
    for first in range(0, count, step):
        c(command, key, *range(first, first + step))


def lookups(c):
    for first in range(0, KEYS, 5000):
        c("MSET", *(w for i in range(first, first + 5000) for w in (i, "1")))
    c("BF.RESERVE", "f", 0.01, KEYS)
    fill(c, "BF.MADD", "f", KEYS)
    asked = [i * 7919 % (2 * KEYS) for i in range(ASKED)]
    get, exists = cost(c, [("GET", i) for i in asked]), cost(c, [("BF.EXISTS", "f", i) for i in asked])
    groups = [asked[i:i + 100] for i in range(0, ASKED, 100)]
    mget, mexists = cost(c, [("MGET", *g) for g in groups], 8), cost(c, [("BF.MEXISTS", "f", *g) for g in groups], 8)
    print(f"EXISTS, pipeline 64: {exists:.2f} us, GET {get:.2f} us, ratio {exists / get:.2f}")
    print(f"MEXISTS of 100: {mexists:.1f} us, MGET {mget:.1f} us, ratio {mexists / mget:.2f}")


def thread_cpu(process):
    """CPU time in microseconds of the thread that runs the commands, as the kernel has counted it."""
    with open(f"/proc/{process.pid}/task/{process.pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1000


def growth(c, process, count=1_500_000, step=20):
    """The longest ADD: no clock on the wall tells it where others use the cores. Of the pipelines of `step` adds, the one that took
    most CPU time, less what a usual pipeline takes, which is mostly the server's own work. What the server does beside it comes at
    another place the second time; the filter's growth at the same."""
    costs = []
    for key in ("g", "again"):
        c("BF.RESERVE", key, 0.01, 1000)
        costs.append([])
        for first in range(0, count, step):
            before = thread_cpu(process)
            c.pipeline([("BF.ADD", key, i) for i in range(first, first + step)])
            costs[-1].append(thread_cpu(process) - before)
    costs = [min(pair) for pair in zip(*costs)]
    longest = max(costs) - statistics.median(costs)
    wrong = sum(sum(c("BF.MEXISTS", "g", *(f"a{i}" for i in range(first, first + 5000)))) for first in range(0, 200_000, 5000))
    wall = server.field(c("INFO", "tamis").decode(), "tamis_longest_add_us")
    print(f"grown from 1,000 to {count:,} keys: {c('MEMORY', 'USAGE', 'g') / count:.2f} bytes a key, rate {wrong / 200_000:.4f}, "
          f"longest ADD {longest:.0f} us of CPU time, {wall} us by the clock")


def reserve(c, process):
    """The first one touches fresh memory; those after it get what was freed."""
    for capacity in (1_000_000, 10_000_000):
        costs = []
        for _ in range(20):
            before = thread_cpu(process)
            c("BF.RESERVE", "r", 0.01, capacity)
            costs.append((thread_cpu(process) - before) / 1000)
            c("DEL", "r")
        print(f"RESERVE of {capacity:,}: {costs[0]:.2f} ms of CPU, {statistics.median(costs[1:]):.2f} ms in memory that was touched before")


def restore(c):
    c("BF.RESERVE", "big", 0.01, 10_000_000)
    fill(c, "BF.MADD", "big", 10_000_000)
    before = cpu(c)
    dump = c("DUMP", "big")
    dumped = cpu(c)
    c("RESTORE", "again", 0, dump)
    print(f"10 M keys, {len(dump) / 1e6:.1f} MB: DUMP {1000 * (dumped - before):.0f} ms, RESTORE {1000 * (cpu(c) - dumped):.0f} ms of CPU")


def main():
    for part in (growth, reserve, lookups, restore):
        with server.Server() as s:
            started = time.monotonic()
            part(s.client(), *([s.process] if part in (growth, reserve) else []))
            print(f"  ({time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
