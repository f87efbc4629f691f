"""cmake/build and ./check, on a project of a few steps that only sleep and print: two builds of a folder take turns, progress is shown as the
place allows, only what failed is printed, and a configure step that did not end well is made anew."""

import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

PRESETS = """{"version": 4, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}],
 "buildPresets": [{"name": "release", "configurePreset": "release"}]}"""

# `alone` fails if it runs twice at a time.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES NONE)
set(FOUND "${WANTED}" CACHE STRING "what the first configure step saw")
if(EXISTS ${CMAKE_SOURCE_DIR}/slow)
  file(TOUCH ${CMAKE_SOURCE_DIR}/started)
  execute_process(COMMAND sleep 60)
elseif(EXISTS ${CMAKE_SOURCE_DIR}/broken)
  message(FATAL_ERROR "the project is broken")
endif()
add_custom_target(alone COMMAND mkdir busy COMMAND sleep 0.5 COMMAND rmdir busy)
add_custom_target(chatty COMMAND echo noise)
add_custom_target(slow COMMAND touch begun COMMAND sleep 2)
add_custom_target(failing COMMAND echo reason COMMAND false)
add_dependencies(failing chatty)
add_dependencies(slow chatty)
add_custom_target(everything ALL DEPENDS)
enable_testing()
add_test(NAME good COMMAND echo expected)
if(EXISTS ${CMAKE_SOURCE_DIR}/bad)
  add_test(NAME bad COMMAND sh -c "echo the reason; exit 1")
endif()
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "cmake").mkdir()
        for name in ("cmake/build", "cmake/progress.bash", "check"):
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "setup").write_text("#!/bin/sh\n")
        (self.root / "setup").chmod(0o755)
        (self.root / "CMakeLists.txt").write_text(PROJECT)
        (self.root / "CMakePresets.json").write_text(PRESETS)

    def start(self, *targets, stderr=subprocess.PIPE, **environment):
        command = [str(self.root / "cmake/build"), str(self.root), "release", *targets]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env={**os.environ, **environment},
                                start_new_session=True)

    def build(self, *targets, **environment):
        started = self.start(*targets, **environment)
        out, said = started.communicate(timeout=60)
        self.assertEqual(out, "")
        return started.returncode, said

    def wait_for(self, path):
        while not (self.root / path).exists():
            time.sleep(0.01)

    def configured(self):
        self.assertEqual(self.build("chatty"), (0, "build: configuring build/release\n"))

    def cached(self):
        lines = (self.root / "build/release/CMakeCache.txt").read_text().splitlines()
        return next(line.split("=", 1)[1] for line in lines if line.startswith("FOUND:"))

    def test_two_builds_take_turns(self):
        builds = [self.start("alone") for _ in range(2)]
        said = [build.communicate(timeout=60)[1] for build in builds]
        self.assertEqual([build.returncode for build in builds], [0, 0], said)
        self.assertEqual(sum("waiting for it" in text for text in said), 1, said)
        self.assertEqual(sum("configuring" in text for text in said), 1, said)

    def test_a_killed_build_keeps_others_out_until_its_commands_end(self):
        self.configured()
        first = self.start("alone")
        self.wait_for("build/release/busy")
        first.kill()
        first.wait()
        code, said = self.build("alone")
        first.communicate()
        self.assertEqual((code, "waiting for it" in said), (0, True), said)

    def test_short_work_is_silent(self):
        self.configured()
        self.assertEqual(self.build("chatty"), (0, ""))

    def test_a_log_gets_a_line_now_and_then(self):
        self.configured()
        code, said = self.build("slow", TAMIS_PROGRESS_SECONDS="1")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\A(building tamis \(release\): (\d of \d, )?\d+ s\n)+\Z")
        self.assertNotIn("noise", said)

    def test_a_terminal_gets_one_line_that_goes_away(self):
        self.configured()
        ours, theirs = pty.openpty()
        build = self.start("slow", stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
        build.communicate(timeout=60)
        self.assertEqual(build.returncode, 0)
        self.assertRegex(shown.decode(), r"\A(\r\x1b\[Kbuilding tamis \(release\): (\[#+\.*\] \d of 2, )?\d+ s)+\r\x1b\[K\Z")
        self.assertIn(b"[####", shown)

    def test_only_what_failed_is_printed(self):
        self.configured()
        code, said = self.build("failing")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\AFAILED: [^\n]*failing[^\n]*\nreason\nbuild: compiling failed \(see above\)\n\Z")

    def test_an_unknown_target_is_named(self):
        self.configured()
        code, said = self.build("nothing-of-that-name")
        self.assertEqual(code, 1)
        self.assertIn("nothing-of-that-name", said)

    def test_a_project_that_breaks_later_says_why(self):
        self.configured()
        (self.root / "broken").touch()
        time.sleep(0.01)
        (self.root / "CMakeLists.txt").touch()
        code, said = self.build("chatty")
        self.assertEqual(code, 1)
        self.assertIn("the project is broken", said)

    def test_a_failed_configure_step_is_forgotten(self):
        (self.root / "broken").touch()
        (self.root / "CMakeLists.txt").write_text('set(WANTED "first")\n' + PROJECT)
        code, said = self.build("chatty")
        self.assertEqual(code, 1)
        self.assertIn("the project is broken", said)
        (self.root / "broken").unlink()
        (self.root / "CMakeLists.txt").write_text('set(WANTED "second")\n' + PROJECT)
        self.configured()
        self.assertEqual(self.cached(), "second")
        self.assertEqual(self.build("chatty"), (0, ""))

    def test_an_interrupted_configure_step_is_made_anew(self):
        self.configured()
        (self.root / "build/release/build.ninja").unlink()
        (self.root / "slow").touch()
        build = self.start("chatty")
        self.wait_for("started")
        os.killpg(build.pid, signal.SIGINT)
        build.communicate(timeout=60)
        self.assertNotEqual(build.returncode, 0)
        (self.root / "slow").unlink()
        self.configured()
        self.assertEqual(self.build("chatty"), (0, ""))

    def test_an_interrupted_build_ends_as_such(self):
        self.configured()
        build = self.start("slow")
        self.wait_for("build/release/begun")
        os.killpg(build.pid, signal.SIGINT)
        _, said = build.communicate(timeout=60)
        self.assertEqual((build.returncode, said), (130, ""))

    def check(self):
        done = subprocess.run([str(self.root / "check")], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    def test_check_counts_what_passes_and_shows_what_fails(self):
        code, said = self.check()
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\A100% tests passed, 0 tests failed out of 1\nTotal Test time .*\n\Z")
        (self.root / "bad").touch()
        (self.root / "CMakeLists.txt").touch()
        code, said = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn("***Failed", said)
        self.assertIn("the reason\n", said)
        self.assertNotIn("expected", said)
        self.assertIn("- bad (Failed)", said)


if __name__ == "__main__":
    unittest.main()
