"""A cluster of three masters and three replicas with the module, for tests: ./run redis-cluster's own script, on free ports."""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import server

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("TAMIS_TOOL", "")


def free_ports(count):
    """The first of `count` ports in a row that are free, as those of the cluster's bus are, 10,000 above."""
    for _ in range(1000):
        first = random.randrange(20_000, 30_000)
        sockets = []
        try:
            for port in range(first, first + count):
                for one in (port, port + 10_000):
                    sockets.append(socket.socket())
                    sockets[-1].bind(("127.0.0.1", one))
            return first
        except OSError:
            pass
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


def until(condition, what, seconds=240):
    """What `condition` answers once that is true; a connection that fails is not yet."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            answer = condition()
            if answer:
                return answer
        except (OSError, server.Error, ConnectionError):
            pass
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")


assert server.MODULE and TOOL, "TAMIS_REDIS_MODULE and TAMIS_TOOL say what is tested"


class Cluster:
    def __init__(self, settings=""):
        self.settings = settings
        self.own = {}  # processes that were started here, by port
        for _ in range(5):
            self.folder = tempfile.mkdtemp(prefix="tamis-cluster-")
            self.first = free_ports(8)  # two to be added
            self.ports = list(range(self.first, self.first + 6))
            self.script = subprocess.Popen(
                [ROOT / "integrations/redis/serve-cluster", "--port", str(self.first)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "TAMIS_REDIS_MODULE": server.MODULE, "TAMIS_CLUSTER_FOLDER": self.folder,
                     "TAMIS_CLUSTER_SETTINGS": "enable-debug-command yes\n" + settings})
            self.said = []
            for line in self.script.stdout:
                self.said.append(line.decode())
                if b"Ctrl-C" in line:
                    return
            self.why = self.script.stderr.read().decode()
            self.script.wait()
            if "in use" not in self.why:
                break
        raise RuntimeError("the cluster does not start: " + self.why)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.own.values():
            process.terminate()
        for process in self.own.values():
            process.wait(60)
        self.script.terminate()
        self.script.wait(60)
        self.script.stdout.close()
        self.script.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, port=None):
        return f"127.0.0.1:{port or self.first}"

    def addresses(self):
        return ",".join(self.address(p) for p in self.ports)

    def client(self, port=None):
        return server.Client(port or self.first)

    def ask(self, port, *words):
        client = self.client(port)
        try:
            return client(*words)
        finally:
            client.close()

    def tool(self, *words, stdin=b"", code=0, cluster=None):
        done = subprocess.run([TOOL, "remote", *map(str, words), "--cluster", cluster or self.addresses()], input=stdin, capture_output=True)
        assert done.returncode == code, (words, done.returncode, done.stdout[-500:], done.stderr)
        return done.stdout if code == 0 else done.stderr.decode()

    def redis_cli(self, *words):
        return subprocess.run(["redis-cli", "--cluster", *map(str, words)], capture_output=True, text=True)

    # What the nodes say of each other, as (port, id, flags, id of the master, number of slots).
    def nodes(self):
        for port in self.ports:
            try:
                told = self.ask(port, "CLUSTER", "NODES").decode()
            except (OSError, ConnectionError):
                continue
            rows = []
            for line in told.splitlines():
                words = line.split()
                slots = sum(int(w.split("-")[-1]) - int(w.split("-")[0]) + 1 for w in words[8:] if not w.startswith("["))
                rows.append((int(words[1].split("@")[0].split(":")[1]), words[0], words[2].split(","), words[3], slots))
            return rows
        raise ConnectionError("no node answers")

    def masters(self):
        """Ports of the masters that have slots."""
        return sorted(port for port, _, flags, _, slots in self.nodes() if "master" in flags and "fail" not in flags and slots)

    def id_of(self, port):
        return self.ask(port, "CLUSTER", "MYID").decode()

    def is_whole(self, ports=None):
        """Everybody sees all slots served, and each replica has what its master has."""
        for port in ports or self.ports:
            info = self.ask(port, "CLUSTER", "INFO").decode()
            if "cluster_state:ok" not in info or "cluster_slots_ok:16384" not in info:
                return False
            replication = self.ask(port, "INFO", "replication").decode()
            if "role:slave" in replication and "master_link_status:up" not in replication:
                return False
            if "role:master" in replication and port in self.masters() and "state=online" not in replication:
                return False
        return True

    def wait_until_whole(self):
        """And until every replica has all that was written so far: what was moved is on its new master only until then."""
        until(self.is_whole, "a whole cluster")
        for port in self.masters():
            client = self.client(port)
            client("PING")  # WAIT waits for what was there at the last command
            until(lambda: client("WAIT", 1, 1000) >= 1, f"a replica of {port} that has everything")
            client.close()

    def kill(self, port):
        pid = int((pathlib.Path(self.folder) / str(port) / "pid").read_text())
        os.kill(pid, signal.SIGKILL)
        if port in self.own:
            self.own.pop(port).wait()

    def start(self, port):
        """A node that was killed, or one more."""
        folder = pathlib.Path(self.folder)
        conf = folder / str(port) / "redis.conf"
        if not conf.exists():
            conf.parent.mkdir()
            conf.write_text((folder / str(self.first) / "redis.conf").read_text().replace(str(self.first), str(port)))
        self.own[port] = subprocess.Popen([folder / "redis-server", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.ask(port, "PING") == "PONG", f"node {port}")

    def log(self, port):
        return (pathlib.Path(self.folder) / str(port) / "log").read_text(errors="replace")

    def cpu(self, port):
        """CPU time in ms of the thread that runs a node's commands."""
        pid = (pathlib.Path(self.folder) / str(port) / "pid").read_text().strip()
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6

    def move_slot(self, slot, source, target):
        """What redis-cli's reshard does for one slot; seconds that the MIGRATE of its keys took."""
        self.ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        self.ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))
        keys = self.ask(source, "CLUSTER", "GETKEYSINSLOT", slot, 100)
        began = time.monotonic()
        self.ask(source, "MIGRATE", "127.0.0.1", target, "", 0, 60_000, "KEYS", *keys)
        took = time.monotonic() - began
        for port in (target, source, *self.masters()):
            self.ask(port, "CLUSTER", "SETSLOT", slot, "NODE", self.id_of(target))
        return took
