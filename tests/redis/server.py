"""A Redis server with the module, for tests: on 127.0.0.1, in a scratch directory, ended by its own process id."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

MODULE = os.environ.get("TAMIS_REDIS_MODULE", "")


class Error(Exception):
    pass


class Client:
    """Speaks RESP2 or RESP3. Errors inside arrays are values; one that is a whole reply is raised."""

    def __init__(self, port, resp=2, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")
        if resp == 3:
            self("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    @staticmethod
    def packed(words):
        out = [b"*%d\r\n" % len(words)]
        for word in words:
            raw = word if isinstance(word, bytes) else str(word).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
        return b"".join(out)

    def __call__(self, *words):
        self.socket.sendall(self.packed(words))
        reply = self.read()
        if isinstance(reply, Error):
            raise reply
        return reply

    def pipeline(self, commands):
        self.socket.sendall(b"".join(self.packed(c) for c in commands))
        return [self.read() for _ in commands]

    def error(self, *words):
        """The text of the error that a command must answer with."""
        try:
            reply = self(*words)
        except Error as e:
            return str(e)
        raise AssertionError(f"{words}: {reply!r}, not an error")

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        size = int(rest)
        if kind in b"$=":
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(size)}
        return None if size < 0 else [self.read() for _ in range(size)]


class Server:
    def __init__(self, *settings, environment=None, folder=None, module=True):
        self.folder = folder or tempfile.mkdtemp(prefix="tamis-redis-")
        self.settings = settings
        self.environment = environment or {}
        self.module = module
        self.clients = []
        self.start()

    def start(self):
        # Debian's redis-tools has the server under this name; it is the name that makes it one.
        program = pathlib.Path(self.folder) / "redis-server"
        if not program.exists():
            program.symlink_to(shutil.which("redis-server") or shutil.which("redis-check-rdb"))
        for _ in range(20):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            command = [str(program), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                       "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0", "--logfile", "log"]
            if self.module:
                command += ["--loadmodule", MODULE]
            self.process = subprocess.Popen(command + list(self.settings), env={**os.environ, **self.environment},
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.wait_until_ready():
                return
        raise RuntimeError("the server does not start: " + self.log()[-2000:])

    def wait_until_ready(self):
        for _ in range(600):
            if self.process.poll() is not None:
                return False
            try:
                client = Client(self.port)
                client("PING")
                client.close()
                return True
            except (OSError, Error):
                time.sleep(0.05)
        return False

    def log(self):
        path = pathlib.Path(self.folder) / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def client(self, resp=2):
        self.clients.append(Client(self.port, resp))
        return self.clients[-1]

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients.clear()

    def kill(self):
        self.close_clients()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        self.start()

    def stop(self):
        self.close_clients()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def wait_in_sync(master, *replicas):
    """Until every replica has what the master has sent."""
    for replica in replicas:
        for _ in range(1200):
            info = replica("INFO", "replication").decode()
            sent = int(field(master("INFO", "replication").decode(), "master_repl_offset"))
            if "master_link_status:up" in info and int(field(info, "slave_repl_offset")) >= sent:
                break
            time.sleep(0.02)
        else:
            raise AssertionError("a replica does not catch up")


def field(info, name):
    for line in info.splitlines():
        if line.startswith(name + ":"):
            return line[len(name) + 1:]
    raise KeyError(name)
