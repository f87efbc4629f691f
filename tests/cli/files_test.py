"""What a command creates never costs the user a file: no input, no other output, and nothing that exists without --force."""

import os
import re
import subprocess
import threading
import unittest

from tool import TOOL, ToolTest, lines

BLOOM = ("--filter", "bloom", "--capacity", "100", "--fpr", "0.1")
FAST = "ascf-sizes"  # an experiment of a second

# Of every command: arguments that work, with the files it reads (others: in place of these), changes and creates by the names of their flags. A command or a flag
# for a file that is missing here fails test_every_command_and_flag_is_here.
COMMANDS = {
    "filters": dict(args=["filters"], creates=["--json"]),
    "create": dict(args=["create", "{FILE}", *BLOOM], creates=["FILE", "--json"]),
    "add": dict(args=["add", "{FILE}", "{KEYS}"], changes=["FILE"], reads=["KEYS"], creates=["--json"]),
    "check": dict(args=["check", "{FILE}", "{KEYS}"], reads=["FILE", "KEYS"], creates=["--json"]),
    "remove": dict(args=["remove", "{FILE}", "{KEYS}"], changes=["FILE"], reads=["KEYS"], creates=["--json"]),
    "merge": dict(args=["merge", "{OUT}", "{FILE}"], reads=["FILE"], creates=["OUT", "--json"]),
    "fold": dict(args=["fold", "{FILE}", "--fpr", "0.1"], changes=["FILE"], creates=["--json"], filter="bloom"),
    "sums": dict(args=["sums", "{FILE}", "--out", "{--out}"], reads=["FILE"], creates=["--out", "--json"]),
    "diff": dict(args=["diff", "{OLD}", "{NEW}", "--out", "{--out}"], reads=["OLD", "NEW"], creates=["--out", "--json"]),
    "patch": dict(args=["patch", "{FILE}", "{PATCH}"], changes=["FILE"], reads=["PATCH"], creates=["--json"]),
    "info": dict(args=["info", "{FILE}"], reads=["FILE"], creates=["--json"]),
    "replay": dict(args=["replay", "--members", "{--members}", "--queries", "{--queries}", "--filter", "bloom"], reads=["--members", "--queries"],
                   other_reads=["--log"], creates=["--json", "--html"]),
    "advise": dict(args=["advise", "--capacity", "10k", "--fpr", "0.1", "--members", "{--members}", "--queries", "{--queries}"],
                   reads=["--members", "--queries"], creates=["--json"]),
    "generate": dict(args=["generate", "uniform", "--count", "10", "--members-count", "10"], creates=["--out", "--members", "--json"]),
    "bench": dict(args=["bench", "--filter", "bloom", "--keys", "100", "--repeats", "1"], creates=["--json"]),
    "reproduce": dict(args=["reproduce", "--list", "--log", "{--log}"], reads=["--log"], creates=["--json"], fills=["--out", "--pages"],
                      reads_folders=["--data"]),
}  # fmt: skip


class Files(ToolTest):
    def setUp(self):
        super().setUp()
        self.create("filter", "counting-bloom", "100", "0.1")
        self.ok("add", "filter", stdin=lines(1, 10))
        self.create("bloom", "bloom", "100", "0.1")
        self.write("fuller", self.read("filter"))
        self.ok("add", "fuller", stdin=lines(11, 20))
        self.ok("diff", "filter", "fuller", "--out", "patch")

    def contents(self):
        return {name: self.read(name) for name in sorted(os.listdir(self.dir)) if os.path.isfile(self.path(name))}

    def make_inputs(self, name):
        """The files that a command reads and changes, each under a name of its own."""
        places = {}
        about = COMMANDS[name]
        for flag in about.get("reads", []) + about.get("changes", []):
            places[flag] = "in-" + flag.strip("-").lower()
            held = {"FILE": about.get("filter", "filter"), "OLD": "filter", "NEW": "fuller", "PATCH": "patch"}.get(flag)
            self.write(places[flag], self.read(held) if held else lines(1, 10) if flag != "--queries" else lines(5, 50))
        return places

    def arguments(self, name, places):
        """The command with these files, and with those that it creates only if they have a place."""
        about = COMMANDS[name]
        args = [places.get(a[1:-1], "out-" + a[1:-1].lower()) if a.startswith("{") else a for a in about["args"]]
        for flag in about["creates"]:
            if flag.startswith("--") and flag in places and flag not in about["args"]:
                args += [flag, places[flag]]
        return args

    def refused_and_nothing_changed(self, args, says):
        before = self.contents()
        self.refused(*args, says=says)
        self.assertEqual(self.contents(), before, args)

    def test_every_command_and_flag_is_here(self):
        listed = self.ok("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        # `remote` needs servers: tests/redis/remote_test.py.
        self.assertEqual(set(re.findall(r"^  (\w+)  ", listed, re.M)) - {"remote", "completion"}, set(COMMANDS))
        for name, about in COMMANDS.items():
            text = self.ok(name, "--help")
            flags = re.findall(r"^  (--[\w-]+) (?:FILE|FILE\|-|DIR)(?:\s|$)", text, re.M)
            positionals = re.findall(r"^  (FILE|KEYS|OUT|OLD|NEW|PATCH)(?:\s|$)", text, re.M)
            known = [flag for part in ("reads", "other_reads", "changes", "creates", "fills", "reads_folders") for flag in about.get(part, [])]
            self.assertEqual(sorted(flags + positionals), sorted(known), name)
            self.assertIn("--force", text, name)

    def test_all_commands_work_as_they_stand_here(self):
        for name, about in COMMANDS.items():
            places = self.make_inputs(name)
            for flag in about["creates"]:
                places[flag] = f"{name}-{flag.strip('-').lower()}"
            self.ok(*self.arguments(name, places))
            for flag in about["creates"]:
                self.assertGreater(len(self.read(places[flag])), 0, (name, flag))

    def test_no_file_is_created_over_an_input(self):
        for name, about in COMMANDS.items():
            places = self.make_inputs(name)
            for created in about["creates"]:
                for given in about.get("reads", []) + about.get("changes", []):
                    if (name, created, given) == ("merge", "OUT", "FILE"):
                        continue  # the union may take the place of one of its parts
                    target = places[given]
                    self.make_names(target)
                    for alias in (target, "./" + target, "folder/../" + target, "link", "hard", self.path(target)):
                        for force in ([], ["--force"]):
                            args = self.arguments(name, {**places, created: alias}) + force
                            doing = "changed" if given in about.get("changes", []) else "read"
                            self.refused_and_nothing_changed(args, f"tamis: {alias}: is {doing} as {given}, and {created} would write over it")

    def make_names(self, target):
        os.makedirs(self.path("folder"), exist_ok=True)
        for name in ("link", "hard"):
            if os.path.lexists(self.path(name)):
                os.unlink(self.path(name))
        os.symlink(target, self.path("link"))
        if os.path.exists(self.path(target)):
            os.link(self.path(target), self.path("hard"))

    def test_no_file_is_created_twice(self):
        for name, about in COMMANDS.items():
            for first in about["creates"]:
                for second in about["creates"]:
                    if first == second:
                        continue
                    for exists in (False, True):
                        places = self.make_inputs(name)
                        if exists:
                            self.write("x", "mine")
                        elif os.path.exists(self.path("x")):
                            os.unlink(self.path("x"))
                        self.make_names("x")
                        for alias in ("x", "./x", "folder/../x", "link", *(["hard"] if exists else [])):
                            args = self.arguments(name, {**places, first: "x", second: alias}) + ["--force"]
                            before = self.contents()
                            message = self.refused(*args)
                            self.assertRegex(message, r"tamis: \S+: is wanted by both \S+ and \S+\n", args)
                            self.assertIn(first, message)
                            self.assertIn(second, message)
                            self.assertEqual(self.contents(), before, args)

    def test_what_exists_is_replaced_only_by_force(self):
        for name, about in COMMANDS.items():
            for created in about["creates"]:
                places = self.make_inputs(name)
                for other in about["creates"]:
                    places[other] = f"new-{other.strip('-').lower()}"
                    if os.path.exists(self.path(places[other])):
                        os.unlink(self.path(places[other]))
                self.write(places[created], "mine")
                args = self.arguments(name, places)
                self.refused_and_nothing_changed(args, f"tamis: {places[created]}: exists already; --force replaces it")
                self.ok(*args, "--force")
                self.assertNotEqual(self.read(places[created]), b"mine", args)

    def test_a_filter_is_replaced_by_a_filter_only(self):
        for name, about in COMMANDS.items():
            for created in about["creates"]:
                places = {**self.make_inputs(name), created: "filter"}
                if created in ("FILE", "OUT"):
                    continue
                self.refused_and_nothing_changed(self.arguments(name, places) + ["--force"], f"filter: is a filter, which {created} would replace")

    def test_standard_output_goes_to_one(self):
        for name, about in COMMANDS.items():
            for first in about["creates"]:
                for second in about["creates"]:
                    if first == second:
                        continue
                    for alias in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
                        args = self.arguments(name, {**self.make_inputs(name), first: "-", second: alias})
                        done = self.run_tool(*args)
                        self.assertEqual((done.returncode, done.stdout), (1, b""), args)
                        self.assertIn(b"is wanted by both", done.stderr)

    def test_keys_and_json_both_want_standard_output(self):
        self.refused("generate", "uniform", "--count", "1", "--json", "-", says="--json -: standard output is taken by the keys")
        self.refused("generate", "uniform", "--count", "1", "--members", "-", says="--members -: standard output is taken by the keys")
        self.assertEqual(len(self.ok("generate", "uniform", "--count", "3", "--out", "-").split()), 3)
        self.assertEqual(len(self.ok("generate", "uniform", "--count", "3", "--out", "q", "--members", "-", "--members-count", "2").split()), 2)

    def test_a_report_on_standard_output(self):
        self.write("m", lines(1, 10))
        page = self.ok("replay", "--members", "m", "--queries", "m", "--filter", "bloom", "--html", "-")
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"), page)

    def shell(self, script):
        env = {**self.env, "PATH": os.path.dirname(TOOL) + ":" + self.env["PATH"]}
        return subprocess.run(["bash", "-c", script], capture_output=True, cwd=self.dir, env=env, timeout=60)

    def test_redirections_are_files_of_the_command_too(self):
        self.write("keys", lines(1, 10))
        for script, says in (
            ("tamis add filter --force --json keys < keys", "keys: is read as KEYS, and --json would write over it"),
            ("tamis check filter keys >> keys", "keys: is read as KEYS, and standard output would write over it"),
            ("tamis check filter >> keys < keys", "-: is read as KEYS, and standard output would write over it"),
            ("tamis info filter >> filter", "filter: is read as FILE, and standard output would write over it"),
            ("tamis info filter --json - >> filter", "-: is read as FILE, and --json would write over it"),
            ("tamis add filter keys >> filter", "filter: is changed as FILE, and standard output would write over it"),
            ("tamis filters --force --json keys >> keys", "keys: is wanted by both"),
            ("tamis merge - filter >> filter", "-: is read as FILE, and OUT would write over it"),
        ):
            before = self.contents()
            done = self.shell(script)
            self.assertEqual((done.returncode, done.stdout), (1, b""), script)
            self.assertIn("tamis: " + says, done.stderr.decode(), script)
            self.assertEqual(self.contents(), before, script)

    def test_devices_and_pipes_need_no_force(self):
        self.write("keys", "1\n")
        for target in ("/dev/null", "/dev/stderr", "/dev/fd/2"):
            for _ in range(2):
                self.assertEqual(self.ok("check", "filter", "keys", "--json", target), "1\n")
        self.ok("replay", "--members", "keys", "--queries", "keys", "--json", "/dev/null", "--html", "/dev/null")
        self.ok("create", "/dev/null", *BLOOM)
        self.assertEqual(self.json("check", "filter", "/dev/null"), {"maybe": 0, "no": 0, "verified": True})
        same = self.ok("info", "filter", "--json", "-")
        self.assertEqual(self.ok("info", "filter", "--json", "/dev/stdout"), same)
        os.symlink("/dev/stdout", self.path("screen"))
        self.assertEqual(self.ok("info", "filter", "--json", "screen"), same)
        self.assertEqual(self.shell("tamis info filter --json >(cat > piped) > text; wait $!; cat piped").stdout.decode(), same)
        self.assertEqual(self.shell("tamis info filter --json /dev/stdout > file; cat file").stdout.decode(), same)
        self.assertEqual(self.shell("tamis info filter --json /dev/fd/7 7> file > /dev/null; cat file").stdout.decode(), same)
        self.refused("info", "filter", "--json", "/dev/fd/9", says="/dev/fd/9: cannot open: Bad file descriptor")
        self.refused("info", "filter", "--json", "/dev/full", says="/dev/full: cannot write: No space left on device")
        self.assertTrue(os.path.islink(self.path("screen")))

    def test_named_pipes(self):
        os.mkfifo(self.path("pipe"))
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
        reader.start()
        text = self.ok("info", "filter", "--json", "pipe")
        reader.join()
        self.assertIn(b'"filter": "counting-bloom"', got[0])
        self.assertIn("counting-bloom", text)
        self.refused("replay", "--keys", "10", "--queries-count", "10", "--json", "pipe", "--html", "./pipe", says="is wanted by both", timeout=20)
        self.refused("add", "filter", "pipe", "--json", "pipe", says="pipe: is read as KEYS", timeout=20)

    def test_filters_go_through_pipes(self):
        self.assertEqual(self.shell("tamis merge - filter > copy && tamis info copy --json - | grep keys").stdout, b'  "keys": 10,\n')
        self.ok("merge", "same", "filter")
        self.assertEqual(self.read("same"), self.read("copy"))

    def test_standard_input_is_read_once(self):
        for name in ("replay", "advise"):
            sizes = ("--capacity", "10", "--fpr", "0.1") if name == "advise" else ()
            self.refused(name, *sizes, "--members", "-", "--queries", "/dev/stdin", stdin="a\n", says="--members and --queries cannot both be standard input")

    def test_nothing_is_created_in_a_folder_that_the_command_fills(self):
        os.mkdir(self.path("out"))
        os.symlink("out", self.path("link"))
        for path in ("out/all.json", "link/x.json", "./out/../out/x", "out"):
            self.refused_and_nothing_changed(("reproduce", FAST, "--out", "out", "--json", path), f"{path}: --json lies in the folder that --out fills")
            self.refused_and_nothing_changed(("replay", "--keys", "10", "--queries-count", "10", "--store", "rocksdb:out", "--html", path),
                                             f"{path}: --html lies in the folder that --store fills")
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_nothing_is_created_in_a_folder_that_the_command_reads(self):
        os.mkdir(self.path("data"))
        os.symlink("data", self.path("link"))
        self.write("data/keys", lines(1, 10))
        for flag in ("--json", "--out", "--pages"):
            out = () if flag == "--out" else ("--out", "out")
            for path in ("data/keys", "link/new", "data"):
                self.refused("reproduce", FAST, "--data", "data", "--force", *out, flag, path,
                             says=f"{path}: {flag} lies in the folder that --data reads")
        self.assertEqual(os.listdir(self.path("data")), ["keys"])
        self.assertEqual(self.read("data/keys").decode(), lines(1, 10))

    def test_a_link_to_nothing_counts_as_a_file(self):
        os.symlink("target", self.path("dangling"))
        self.refused("info", "filter", "--json", "dangling", says="dangling: exists already")
        self.ok("info", "filter", "--json", "dangling", "--force")
        self.assertTrue(os.path.islink(self.path("dangling")))
        self.assertIn(b"counting-bloom", self.read("target"))

    def test_the_union_may_take_the_place_of_a_part(self):
        self.write("other", self.read("filter"))
        self.refused_and_nothing_changed(("merge", "other", "other", "filter"), "other: exists already; --force replaces it")
        self.ok("merge", "other", "other", "filter", "--force")
        self.assertEqual(self.json("info", "other")["keys"], 20)


if __name__ == "__main__":
    unittest.main()
