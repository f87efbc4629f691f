"""The examples of docs/python.md run, in a folder of their own, one behind the other, and print what they say."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

PAGE = pathlib.Path(os.environ["TAMIS_SOURCE"]) / "docs" / "python.md"


class Examples(unittest.TestCase):
    def test_they_print_what_they_say(self):
        examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertGreaterEqual(len(examples), 5)
        names = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for example in examples:
                with self.subTest(example=example[:60]):
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(compile(example, str(PAGE), "exec"), names)
                    self.assertEqual(printed.getvalue().split("\n")[:-1], re.findall(r"print\(.*\)  # (.*)", example))


if __name__ == "__main__":
    unittest.main()
