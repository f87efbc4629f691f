"""Pipes, full disks, signals, terminals."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from files_test import COMMANDS
from tool import TOOL, ToolTest, lines


class Streams(ToolTest):
    def shell(self, script):
        env = {**self.env, "PATH": os.path.dirname(TOOL) + ":" + self.env["PATH"]}
        return subprocess.run(["bash", "-c", script], capture_output=True, cwd=self.dir, env=env)

    def start(self, *args, **more):
        return subprocess.Popen([TOOL, *args], cwd=self.dir, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_full_output_is_an_error(self):
        self.create()
        self.ok("add", "f", stdin="a\n")
        for command in ("filters", "info f", "check f <<< a", "check -c f <<< a", "info f --json -", "--help", "add --help", "--version", "generate zipf --count 10"):
            done = self.shell(f"tamis {command} > /dev/full")
            self.assertEqual(done.returncode, 1, command)
            self.assertEqual(done.stderr.decode(), "tamis: standard output: cannot write: No space left on device\n")

    def test_closed_output_is_an_error_and_never_lands_in_a_file(self):
        self.create()
        done = self.shell("tamis info f >&-")
        self.assertEqual((done.returncode, done.stderr.decode()), (1, "tamis: standard output: cannot write: Bad file descriptor\n"))
        self.shell("seq 100 | tamis add f >&- 2>&-")
        self.assertEqual(self.json("info", "f")["keys"], 100)  # still a sound filter
        self.assertEqual(self.shell("tamis add f <&-").returncode, 1)

    def test_a_broken_pipe_ends_quietly(self):
        """As it ends grep: by SIGPIPE."""
        self.create("f", "bloom", "1M")
        self.ok("add", "f", stdin=lines(1, 300000))
        done = self.shell("seq 300000 | tamis check f | head -1; exit ${PIPESTATUS[1]}")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (128 + signal.SIGPIPE, b"1\n", b""))
        done = self.shell("tamis generate uniform --count 1M --out >(head -1 > /dev/null; sleep 1); exit $?")
        self.assertEqual((done.returncode, done.stderr), (128 + signal.SIGPIPE, b""))

    def to_nobody(self, *args, stdin=b"", ignored=False):
        """The command with a standard output that nobody reads."""
        read, write = os.pipe()
        os.close(read)
        ignore = (lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None
        done = subprocess.run([TOOL, *args], cwd=self.dir, env=self.env, input=stdin, stdout=write, stderr=subprocess.PIPE, preexec_fn=ignore)
        os.close(write)
        return done

    def test_a_broken_pipe_ends_every_command_quietly(self):
        self.create("f", "counting-bloom")
        self.create("b", "bloom")
        self.write("m", lines(1, 10))
        self.write("q", lines(5, 50))
        self.ok("add", "f", "m")
        self.write("n", self.read("f"))
        self.ok("add", "n", "q")
        self.ok("diff", "f", "n", "--out", "p")
        log = ("--members", "m", "--queries", "q")
        commands = {
            "filters": (), "create": ("g", "--filter", "bloom", "--capacity", "10", "--fpr", "0.1", "--force"), "add": ("f", "m"), "check": ("f", "m"),
            "remove": ("f", "m"), "merge": ("g", "f", "--force"), "fold": ("b", "--fpr", "0.1"), "info": ("f",), "sums": ("f", "--out", "s", "--force"),
            "diff": ("f", "n", "--out", "p", "--force"), "patch": ("f", "p"), "replay": (*log, "--filter", "bloom"),
            "advise": (*log, "--capacity", "50", "--fpr", "0.1"), "generate": ("uniform", "--count", "10"),
            "bench": ("--keys", "10", "--filter", "bloom", "--repeats", "1"), "reproduce": ("--list",),
        }  # fmt: skip
        self.assertEqual(set(commands), set(COMMANDS))
        for command, args in commands.items():
            for more in ((), ("--help",)) + ((("--json", "-"),) if command != "generate" else ()):
                done = self.to_nobody(command, *args, *more)
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""), (command, more))
                if "--json" not in more:
                    self.create("f", "counting-bloom", "1000", "0.01", "--force")
                    self.ok("add", "f", "m")
        self.assertEqual(self.to_nobody("--version").returncode, -signal.SIGPIPE)

    def test_a_broken_pipe_is_an_error_for_those_who_ignore_the_signal(self):
        for args in (("filters",), ("reproduce", "--list")):
            done = self.to_nobody(*args, ignored=True)
            self.assertEqual((done.returncode, done.stderr), (1, b"tamis: standard output: cannot write: Broken pipe\n"))

    def test_a_broken_pipe_leaves_what_was_done(self):
        """The answer gets lost, not the keys; and what is not done is not left half done."""
        self.create()
        self.to_nobody("add", "f", stdin=lines(1, 10).encode())
        self.assertEqual(self.json("info", "f")["keys"], 10)
        self.to_nobody("generate", "uniform", "--count", "100k", "--members", "m", "--members-count", "5")
        self.assertEqual(sorted(os.listdir(self.dir)), ["f", "m"])

    def test_pipeline(self):
        self.create("f", "bloom", "10k", "0.001")
        done = self.shell("seq 1000 | tamis add f && seq 990 1010 | tamis check f | sort -n | tail -1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1000\n", done.stdout)

    def test_answers_do_not_wait_for_the_end_of_a_pipe(self):
        self.create()
        self.ok("add", "f", stdin="a\n")
        with self.start("check", "f") as process:
            process.stdin.write(b"a\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 20)
            self.assertTrue(ready)
            self.assertEqual(process.stdout.readline(), b"a\n")
            process.stdin.close()

    def test_a_signal_leaves_the_old_file(self):
        self.create()
        self.ok("add", "f", stdin="old\n")
        before = self.sum("f")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.start("add", "f", "--json", "result.json") as process:
                process.stdin.write(lines(1, 1000).encode())
                process.stdin.flush()
                self.wait_for(lambda: any("result.json" in name for name in os.listdir(self.dir)))
                process.send_signal(number)
                self.assertEqual(process.wait(20), -number)  # as a shell expects it
                self.assertEqual(process.stderr.read(), b"tamis: interrupted\n")
            self.assertEqual((self.sum("f"), os.listdir(self.dir)), (before, ["f"]))

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_two_writers_do_not_lose_keys(self):
        self.create()
        with self.start("add", "f", "--json", "result.json") as process:
            self.wait_for(lambda: any("result.json" in name for name in os.listdir(self.dir)))
            self.refused("add", "f", stdin="b\n", says="f: another tamis is changing it")
            self.refused("create", "--force", "f", "--filter", "bloom", "--capacity", "9", "--fpr", "0.1", says="f: another tamis is changing it")
            self.refused("merge", "--force", "f", "f", "f", says="f: another tamis is changing it")
            self.assertEqual(self.ok("check", "f", stdin="a\n"), "")  # reading goes on
            process.communicate(b"a\n")
        self.ok("add", "f", stdin="b\n")
        self.assertEqual(self.ok("check", "f", stdin="a\nb\n"), "a\nb\n")

    def test_symbolic_links_and_modes_survive(self):
        self.create("real")
        os.chmod(self.path("real"), 0o640)
        os.symlink("real", self.path("link"))
        self.ok("add", "link", stdin="a\n")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(os.stat(self.path("real")).st_mode & 0o777, 0o640)
        self.assertEqual(self.ok("check", "real", stdin="a\n"), "a\n")

    def on_terminal(self, *args, columns=80, env=None):
        """What a terminal of that width shows, with standard output and standard error on it."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {**self.env, "TERM": "xterm", "LC_ALL": "C.UTF-8", **(env or {})}
        process = subprocess.Popen([TOOL, *args], cwd=self.dir, env=environment, stdin=subprocess.DEVNULL, stdout=child, stderr=child)
        os.close(child)
        shown = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(parent)
        self.assertEqual(process.wait(), 0, shown)
        return shown.decode()

    def test_colours_only_on_a_terminal_and_if_wanted(self):
        self.assertIn("\x1b[", self.on_terminal("filters"))
        self.assertNotIn("\x1b[", self.on_terminal("filters", env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b[", self.on_terminal("filters", env={"TERM": "dumb"}))
        self.assertNotIn("\x1b[", self.ok("filters"))

    def test_progress_only_on_a_terminal(self):
        small = ("replay", "--keys", "100k", "--queries-count", "6M", "--filter", "bloom")
        shown = self.on_terminal(*small)
        self.assertRegex(shown, r"replaying .* \d+ % .* keys")
        for drawn in re.findall(r"\r([^\r\n]*)\x1b\[K", shown):
            self.assertLess(len(drawn), 80)
        self.assertEqual(self.run_tool(*small).stderr, b"")

    def test_screens_fit_their_terminal(self):
        """And nothing is left out on narrow ones."""
        self.create("f", "counting-bloom")
        self.ok("add", "f", stdin=lines(1, 10))
        replay = ("replay", "--keys", "1000", "--queries-count", "10k", "--filter", "bloom,acf-cuckooing,evergreen")
        advise = ("advise", "--capacity", "1M", "--growth", "4", "--fpr", "0.01")
        for args in (("filters",), ("info", "f"), ("generate", "--list"), replay, advise, ("bench", "--keys", "1000", "--repeats", "1", "--filter", "bloom,rsqf,abf-counting"),
                     ("reproduce", "--list"), ("reproduce", "ascf-sizes", "--out", "out")):  # fmt: skip
            words = set()
            for columns in (200, 120, 80, 60, 40, 30):
                shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", self.on_terminal(*args, columns=columns)).replace("\r\n", "\n")
                lines_shown = [line.split("\r")[-1] for line in shown.split("\n") if not line.startswith("tamis: ")]
                for line in lines_shown:
                    self.assertLessEqual(len(line), columns, f"{args}: {line}")
                here = set(re.findall(r"[a-z]{3,}", " ".join(lines_shown)))
                words = words or here
                self.assertEqual({w for w in words - here if w not in ("filter", "rate", "over", "time")}, set(), (args, columns))  # no sparklines

    def test_narrow_tables_are_blocks(self):
        args = ("replay", "--keys", "1000", "--queries-count", "10k", "--filter", "bloom,taf")
        rows = {row["filter"]: row for row in self.json(*args)}
        shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", self.on_terminal(*args, columns=40)).replace("\r\n", "\n")
        for name, row in rows.items():
            block = "".join(re.findall(rf"(?m)^{name}\n((?:  .*\n)+)", shown))
            for label, field in (("false pos. first-time", "first_time_false_positives"), ("false pos. repeated", "repeated_false_positives"),
                                 ("reads avoided", "store_reads_avoided")):  # fmt: skip
                self.assertRegex(block, rf"(?m)^  {label} +{row[field]:,}$")

    def test_redirected_tables_keep_their_columns(self):
        text = self.ok("bench", "--keys", "1000", "--repeats", "1", "--filter", "bloom,taf", env={"COLUMNS": "40"})
        self.assertEqual(len([line for line in text.splitlines() if line.startswith(("bloom ", "taf "))]), 2)

    def test_a_command_that_is_broken_stays_a_command(self):
        shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", self.on_terminal("advise", "--capacity", "1M", "--fpr", "0.01", columns=40)).replace("\r\n", "\n")
        command = re.search(r"Recommended:\n((?:.*\\\n)*.*\n)", shown)[1].replace("FILE", "made")
        self.assertEqual(self.shell(command).returncode, 0, command)
        self.assertGreaterEqual(self.json("info", "made")["capacity"], 1000000)


if __name__ == "__main__":
    unittest.main()
