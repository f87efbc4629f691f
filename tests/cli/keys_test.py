"""Keys as files hold them: every byte counts, and nothing but the separator is special."""

import unittest

from tool import ToolTest, lines


class Keys(ToolTest):
    def maybe(self, content, *flags):
        return self.json("check", "f", *flags, stdin=content)["maybe"]

    def test_empty_input_adds_nothing_and_says_so(self):
        self.create()
        before = self.sum("f")
        self.write("none", "")
        self.assertEqual(self.ok("add", "f", "none"), "f: added 0 keys: none is empty\n")
        self.assertEqual(self.json("add", "f"), {"added": 0, "refused": 0})
        self.assertEqual(self.sum("f"), before)
        self.assertEqual(self.ok("check", "f", "none"), "")

    def test_last_line_needs_no_line_end(self):
        self.create()
        self.assertEqual(self.json("add", "f", stdin="a\nb")["added"], 2)
        self.assertEqual(self.maybe("b\n"), 1)
        self.assertEqual(self.ok("check", "f", stdin="a\nb"), "a\nb\n")

    def test_carriage_returns_belong_to_the_key(self):
        self.create()
        self.ok("add", "f", stdin="a\r\nb\r\n")
        self.assertEqual(self.maybe("a\nb\n"), 0)
        self.assertEqual(self.maybe("a\r\nb\r\n"), 2)
        self.assertIn("carriage return", self.ok("add", "--help").replace("\n", " "))

    def test_empty_lines_are_the_empty_key(self):
        self.create()
        self.assertEqual(self.maybe("\n"), 0)
        self.assertEqual(self.json("add", "f", stdin="\n\n")["added"], 2)
        self.assertEqual(self.maybe("\n"), 1)

    def test_nul_separated_keys_may_hold_line_ends(self):
        self.create()
        self.assertEqual(self.json("add", "-0", "f", stdin=b"two\nlines\0x\0last")["added"], 3)
        self.assertEqual(self.maybe(b"two\nlines\0last\0", "-0"), 2)
        self.assertEqual(self.ok("check", "-0", "f", stdin=b"two\nlines\0nope\0"), "two\nlines\0")
        self.assertEqual(self.maybe("two\nlines\n"), 0)

    def test_any_bytes(self):
        self.create()
        keys = b"".join(bytes([b, 255 - b]) + b"\n" for b in range(256) if 10 not in (b, 255 - b))
        count = keys.count(b"\n")
        self.assertEqual(self.json("add", "f", stdin=keys)["added"], count)
        self.assertEqual(self.run_tool("check", "f", stdin=keys).stdout, keys)

    def test_keys_of_a_megabyte_and_more(self):
        self.create()
        for size in (10**6, 2**20 - 1, 2**20, 2**20 + 1, 5 * 10**6):
            key = b"k" * size
            content = b"short\n" + key + b"\nafter\n"
            self.assertEqual(self.json("add", "f", stdin=content)["added"], 3)
            self.assertEqual(self.run_tool("check", "f", stdin=content).stdout, content)
            self.assertEqual(self.maybe(key[:-1] + b"x\n"), 0)

    def test_files_and_standard_input_agree(self):
        self.create("f", "bloom", "100k")
        self.write("keys", lines(1, 50000))
        self.assertEqual(self.json("add", "f", "keys")["added"], 50000)
        self.create("g", "bloom", "100k")
        self.assertEqual(self.json("add", "g", "-", stdin=lines(1, 50000))["added"], 50000)
        self.assertEqual(self.read("f"), self.read("g"))
        self.assertEqual(self.ok("check", "f", "keys"), lines(1, 50000))

    def test_many_keys_across_batches_and_buffers(self):
        self.create("f", "bloom1", "1M", "0.001")
        content = "".join(f"{i:0{1 + i % 60}}\n" for i in range(200000))
        self.assertEqual(self.json("add", "f", stdin=content), {"added": 200000, "refused": 0})
        self.assertEqual(self.ok("check", "f", stdin=content), content)


if __name__ == "__main__":
    unittest.main()
