"""Keys from compressed files and captures: the same keys give the same result, and bad files are refused with nothing done."""

import gzip
import shutil
import struct
import subprocess
import unittest

from tool import ToolTest, lines

ZSTD = shutil.which("zstd")


def flow(i):
    """Source and destination of the i-th flow, as bytes and as a line."""
    source, destination = bytes([10, i >> 16 & 255, i >> 8 & 255, i & 255]), bytes([192, 168, 1, 2])
    port = 1024 + i % 50000
    protocol = 6 if i % 2 else 17
    dotted = lambda a: ".".join(str(b) for b in a)
    line = f"{dotted(source)}:{port} > {dotted(destination)}:443 {'tcp' if protocol == 6 else 'udp'}\n"
    head = struct.pack(">BBHHHBBH", 0x45, 0, 28, 1, 0, 64, protocol, 0)
    return head + source + destination + struct.pack(">HH", port, 443) + b"data", line


def capture(packets, link=101):
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    return file + b"".join(struct.pack("<IIII", 0, 0, len(p), len(p)) + p for p in packets)


class Inputs(ToolTest):
    def packed(self, name, content):
        """The file as it is, and compressed: their names."""
        content = content.encode() if isinstance(content, str) else content
        names = [self.write(name, content), self.write(name + ".gz", gzip.compress(content))]
        if ZSTD:
            self.write(name + ".zst", subprocess.run([ZSTD, "-qc"], input=content, capture_output=True, check=True).stdout)
            names.append(name + ".zst")
        return names

    def test_compressed_keys_are_the_same_keys(self):
        for command in ("add", "check", "remove"):
            saved, printed = [], []
            for name in self.packed("keys", lines(1, 50000)):
                filter = self.create("f-" + name + command, "counting-bloom", "100k")
                if command != "add":
                    self.ok("add", filter, stdin=lines(1, 25000 if command == "check" else 50000))
                printed.append(self.ok(command, filter, name).replace(filter, "FILTER"))
                saved.append(self.read(filter))
            self.assertEqual(len(set(printed)), 1)
            self.assertEqual(len(set(saved)), 1)

    def test_standard_input_may_be_compressed(self):
        self.create()
        self.assertEqual(self.json("add", "f", stdin=gzip.compress(b"a\nb\n"))["added"], 2)
        self.assertEqual(self.ok("check", "f", stdin=gzip.compress(b"b\nc\n")), "b\n")

    def test_replay_takes_compressed_logs_and_captures(self):
        log = [flow(i % 700) for i in range(3000)]
        members = self.packed("members", "".join(flow(i)[1] for i in range(300)))
        queries = self.packed("queries", "".join(line for _, line in log)) + self.packed("packets", capture([p for p, _ in log]))
        results = []
        for i, name in enumerate(queries):
            rows = self.json("replay", "--members", members[i % len(members)], "--queries", name, "--filter", "bloom,exaf", "--fpr", "0.1")
            results.append([{k: v for k, v in row.items() if "second" not in k} for row in rows])
        self.assertEqual(results[0][0]["queries"], 3000)
        self.assertEqual(results[0][0]["distinct_negatives"], 400)
        for result in results:
            self.assertEqual(result, results[0])

    def test_packets_are_keys_and_the_others_are_counted(self):
        arp = capture([b"\xff" * 12 + b"\x08\x06" + b"a" * 28, b"\xff" * 12 + b"\x08\x00" + flow(1)[0], b"\xff" * 12 + b"\x08\x00" + flow(1)[0][:22]], 1)
        self.write("c.pcap", arp)
        self.create()
        done = self.run_tool("add", "f", "c.pcap")
        self.assertEqual((done.returncode, done.stdout), (0, b"f: added 1 key, refused 0\n"))
        self.assertEqual(done.stderr.decode(), "tamis: c.pcap: note: 3 packets, 1 key; skipped: 1 not IP, 1 with incomplete headers\n")
        self.assertEqual(self.ok("check", "f", stdin=flow(1)[1]), flow(1)[1])
        self.assertEqual(self.run_tool("check", "-0", "f", "c.pcap").stdout, flow(1)[1].encode().replace(b"\n", b"\0"))

    def test_bad_files_are_refused_and_change_nothing(self):
        self.create("f", "bloom", "100k")
        self.ok("add", "f", stdin="old\n")
        before = self.sum("f")
        whole = gzip.compress(lines(1, 50000).encode())
        packets = capture([flow(i)[0] for i in range(2000)])
        bad = {
            "cut.gz": (whole[:-100], "cut off: the gzip data ends in the middle"),
            "damaged.gz": (whole[:5000] + bytes([whole[5000] ^ 255]) + whole[5001:], "damaged: "),
            "more.gz": (whole + b"more\n", "damaged: incorrect header check after a whole gzip member"),
            "cut.pcap": (packets[:-3], "damaged capture, after 1999 packets: truncated dump file"),
            "cut.pcap.gz": (gzip.compress(packets)[:-3], "cut off: the gzip data ends in the middle"),
            "wlan.pcap": (capture([], 105), "a capture of link type 105 (IEEE802_11); tamis reads Ethernet"),
            "start.zst": (b"\x28\xb5\x2f", "cut off: it ends inside the first bytes of its format"),
            "bad.zst": (b"\x28\xb5\x2f\xfd" + b"\xff" * 30, "damaged zstd data: "),
        }
        self.write("keys", lines(1, 10))
        for name, (content, reason) in bad.items():
            self.write(name, content)
            for command in ("add", "check"):
                message = self.refused(command, "f", name)
                self.assertTrue(message.startswith(f"tamis: {name}: {reason}"), message)
            for members, queries in ((name, "keys"), ("keys", name)):
                done = self.run_tool("replay", "--members", members, "--queries", queries, "--filter", "bloom", "--json", "out", "--html", "page")
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertTrue(done.stderr.decode().startswith(f"tamis: {name}: {reason}"), done.stderr)
        self.assertEqual(self.sum("f"), before)
        self.refused("check", "f", stdin=whole[:-100], says="tamis: standard input: cut off")

    def test_plain_takes_files_as_they_are(self):
        self.create()
        self.assertEqual(self.json("add", "f", "--plain", stdin=b"\x1f\x8b key\n\x28\xb5\x2f\xfd\n")["added"], 2)
        self.assertEqual(self.run_tool("check", "--plain", "f", stdin=b"\x28\xb5\x2f\xfd\n").stdout, b"\x28\xb5\x2f\xfd\n")


if __name__ == "__main__":
    unittest.main()
