"""`tamis completion` in bash, zsh and fish, as they complete; `tamis man-page` as man reads it."""

import os
import re
import shutil
import subprocess
import unittest

from tool import TOOL, ToolTest

PATH = os.path.dirname(TOOL) + ":" + os.environ["PATH"]


class Completion(ToolTest):
    def bash(self, line):
        """What bash offers at the end of a line."""
        words = line.split(" ")
        quoted = " ".join("'" + word + "'" for word in words)
        script = f"""set -eu
source <(tamis completion bash)
compopt() {{ :; }}  # only readline has options to set
COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
_tamis
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "-c", script], cwd=self.dir, env={**self.env, "PATH": PATH}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines() if done.stdout != "\n" else []

    def fish(self, line):
        self.ok("completion", "fish")
        self.write("tamis.fish", self.ok("completion", "fish"))
        done = subprocess.run(["fish", "--no-config", "-c", f"source tamis.fish; complete -C '{line}'"], cwd=self.dir,
                              env={**self.env, "PATH": PATH, "HOME": self.dir}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [entry.split("\t")[0] for entry in done.stdout.splitlines()]

    def filters(self):
        return [entry["filter"] for entry in self.json("filters")]

    def commands(self):
        listed = self.ok("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  (\w+)  ", listed, re.M)

    def options(self, command):
        return set(re.findall(r"(?:^  |,)(--?[\w-]+)", self.ok(command, "--help"), re.M))

    def test_bash_commands(self):
        self.assertEqual(self.bash("tamis cr"), ["create"])
        self.assertEqual(set(self.bash("tamis ")), set(self.commands()) | {"--help", "--version"})

    def test_bash_has_every_option_of_every_command(self):
        for command in self.commands():
            self.assertEqual(set(self.bash(f"tamis {command} -")), self.options(command), command)

    def test_bash_values(self):
        self.assertEqual(self.bash("tamis create f --filter "), self.filters())
        self.assertEqual(self.bash("tamis create f --filter infi"), ["infini"])
        self.assertEqual(self.bash("tamis create f --filter = infi"), ["infini"])
        self.assertEqual(self.bash("tamis replay --filter taf,infi"), ["taf,infini"])
        self.assertEqual(self.bash("tamis filters vac"), ["vacuum"])
        self.assertEqual(self.bash("tamis create f --hash "), ["fast", "keyed"])
        self.assertEqual(self.bash("tamis create f --capacity "), [])
        self.assertEqual(self.bash("tamis reproduce --scale "), ["quick", "paper"])
        self.assertEqual(self.bash("tamis completion z"), ["zsh"])
        self.assertIn("firehose-activeset", self.bash("tamis generate "))

    def test_bash_files(self):
        self.write("seen of mine", "")
        self.write("other", "")
        self.assertEqual(self.bash("tamis info se"), ["seen of mine"])
        self.assertEqual(self.bash("tamis add other --json se"), ["seen of mine"])
        self.assertEqual(self.bash("tamis info --json = se"), ["seen of mine"])

    @unittest.skipIf(shutil.which("fish") is None, "needs fish")
    def test_fish(self):
        self.write("seen", "")
        self.assertEqual(self.fish("tamis cr"), ["create"])
        self.assertEqual(set(self.fish("tamis ")), set(self.commands()))
        self.assertEqual(sorted(self.fish("tamis create f --filter ")), sorted(self.filters()))
        self.assertEqual(self.fish("tamis create f --hash "), ["fast", "keyed"])
        self.assertEqual(self.fish("tamis replay --filter taf,infi"), ["taf,infini"])
        self.assertEqual(self.fish("tamis info se"), ["seen"])
        for command in self.commands():
            long = {name for name in self.options(command) if name.startswith("--")}
            self.assertEqual({word for word in self.fish(f"tamis {command} --") if word.startswith("--")}, long, command)

    @unittest.skipIf(shutil.which("zsh") is None, "needs zsh")
    def test_zsh(self):
        """zsh completes in a terminal only: zpty is one. What is typed is answered with a list, or with the only word."""
        self.write("_tamis", self.ok("completion", "zsh"))
        subprocess.run(["zsh", "-n", "_tamis"], cwd=self.dir, check=True)
        self.write("ask.zsh", """zmodload zsh/zpty
zpty asked zsh -f -i
zpty -w asked "PROMPT=; unset zle_bracketed_paste; fpath=($PWD \\$fpath); autoload -U compinit; compinit -u -D; cd $PWD/empty"
zpty -w asked "stty columns 500; LISTMAX=0; print READY"
while zpty -r asked line && [[ $line != *READY* || $line == *print* ]]; do :; done
zpty -w -n asked "$1"$'\\t\\t'
sleep ${2:-1.5}
while zpty -r -t asked line; do print -r -- $line; done
zpty -d asked
""")
        os.mkdir(self.path("empty"))
        for typed, wanted in (("tamis cr", ["create"]), ("tamis create f --filter infi", ["infini"]), ("tamis create f --hash ", ["fast", "keyed"]),
                              ("tamis create f --cap", ["--capacity"]), ("tamis ", self.commands())):
            done = subprocess.run(["zsh", "-f", "ask.zsh", typed], cwd=self.dir, env={**self.env, "PATH": PATH, "TERM": "vt100", "HOME": self.dir},
                                  capture_output=True, text=True, timeout=60)
            shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\b]", "", done.stdout)
            for word in wanted:
                self.assertIn(word, shown, f"{typed}: {done.stdout!r} {done.stderr}")

    def test_unknown_shells_are_named(self):
        self.refused("completion", "csh", says="shell 'csh': must be bash, zsh or fish")


class ManPages(ToolTest):
    def commands(self):
        return Completion.commands(self)

    def test_they_say_what_help_says(self):
        for command in self.commands():
            page = self.ok("man-page", command)
            self.assertTrue(page.split("\n")[1].startswith(f".TH TAMIS\\-{command.upper()} 1 "), page[:80])
            plain = page.replace("\\-", "-")
            for option in Completion.options(self, command):
                self.assertIn(f"\\fB{option}\\fR", plain, command)
            self.assertIn(".SH EXAMPLES", page)
        tool = self.ok("man-page").replace("\\-", "-")
        for command in self.commands():
            self.assertIn(f".B {command}\n", tool)
            self.assertIn(f".BR tamis-{command} (1)", tool)
        self.refused("man-page", "nothing", says="command 'nothing': unknown")

    def test_the_build_makes_one_for_every_command(self):
        shown = os.path.join(os.path.dirname(TOOL), "shown")
        self.assertEqual({f"tamis-{command}.1" for command in self.commands()} | {"tamis.1"},
                         {name for name in os.listdir(shown) if name.endswith(".1")})

    @unittest.skipIf(shutil.which("man") is None, "needs man")
    def test_man_shows_them_without_complaint(self):
        for command in ["", *self.commands()]:
            self.write("page.1", self.ok("man-page", *([command] if command else [])))
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", "page.1"], cwd=self.dir, capture_output=True, text=True,
                                  env={**self.env, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.write("page.1", self.ok("man-page", "check"))
        shown = subprocess.run(["man", "-l", "page.1"], cwd=self.dir, capture_output=True, text=True, env={**self.env, "MANWIDTH": "80"}).stdout
        self.assertIn("seq 1 1000 | tamis add seen.tamis", shown)


if __name__ == "__main__":
    unittest.main()
