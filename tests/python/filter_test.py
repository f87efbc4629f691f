"""tamis.Filter as a Python program uses it: sets' habits, every form of keys, files, pickles, errors, threads."""

import array
import copy
import ctypes
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tamis

try:
    import numpy as np
except ImportError:
    np = None
try:
    import pandas as pd
except ImportError:
    pd = None

KINDS = [kind["id"] for kind in tamis.kinds()]
TOOL = os.environ.get("TAMIS_TOOL")


def words(count, of="key"):
    return [f"{of} {i}" for i in range(count)]


def of_every_kind(test):
    def run(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                test(self, kind)
    return run


class Sets(unittest.TestCase):
    @of_every_kind
    def test_what_went_in_is_in(self, kind):
        seen = tamis.Filter(kind, 5000, fpr=0.01)
        members = words(2000)
        seen.add(members[0])
        seen.update(members[1:])
        self.assertEqual(len(seen), 2000)
        self.assertTrue(all(word in seen for word in members))
        self.assertTrue(all(seen.contains_many(members)))
        # 10,000 strangers at a rate of at most 0.02: more than 300 have a chance below 1e-10.
        self.assertLess(sum(word in seen for word in words(10000, "stranger")), 300)

    @of_every_kind
    def test_copies_pickles_and_files_are_the_same(self, kind):
        seen = tamis.Filter(kind, 5000)
        seen.update(words(1000))
        saved = seen.to_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "seen"
            seen.save(path)
            self.assertEqual(path.read_bytes(), saved)
            others = [seen.copy(), copy.copy(seen), copy.deepcopy(seen), pickle.loads(pickle.dumps(seen)),
                      tamis.Filter.load(path), tamis.Filter.from_bytes(saved)]
        for other in others:
            self.assertIs(type(other), tamis.Filter)
            self.assertEqual(other.to_bytes(), saved)
        others[0].add("another")
        self.assertEqual(seen.to_bytes(), saved)

    @of_every_kind
    def test_what_it_can_it_does_and_else_refuses(self, kind):
        seen = tamis.Filter(kind, 5000)
        seen.update(words(100))
        calls = {"erase": lambda: seen.remove(words(1)[0]), "count": lambda: seen.count("key 50"), "adapt": lambda: seen.adapt([]),
                 "expand": seen.expand, "merge": lambda: seen.merge(seen.copy()), "rejuvenate": lambda: seen.rejuvenate(["key 50"])}
        for name, call in calls.items():
            if name in seen.can:
                call()
            else:
                with self.assertRaises(tamis.Unsupported):
                    call()
        self.assertTrue(all(seen.contains_many(words(100)[1:])))

    def test_union(self):
        left, right = tamis.Filter("rsqf", 5000), tamis.Filter("rsqf", 5000)
        left.update(words(500, "left"))
        right.update(words(500, "right"))
        both = left | right
        self.assertEqual((len(both), len(left)), (1000, 500))
        self.assertTrue(all(both.contains_many(words(500, "left") + words(500, "right"))))
        left |= right
        self.assertEqual(len(left), 1000)
        with self.assertRaises(ValueError):
            left |= tamis.Filter("taf", 5000)
        with self.assertRaises(tamis.WrongHash):
            left |= tamis.Filter("rsqf", 5000, seed=7)
        with self.assertRaises(TypeError):
            left | {"a"}

    def test_small_things(self):
        seen = tamis.Filter(capacity=100)
        self.assertEqual(seen.kind, "evergreen")
        self.assertFalse(seen)
        seen.add("a")
        self.assertTrue(seen)
        self.assertEqual(seen.count("a"), 1)
        self.assertTrue(seen.discard("a"))
        self.assertFalse(seen.discard("a"))
        with self.assertRaises(KeyError):
            seen.remove("a")
        self.assertEqual(repr(seen), f"<tamis.Filter evergreen, 0 of {seen.capacity} keys>")
        self.assertIn("erase", seen.can)
        self.assertGreater(seen.nbytes, 0)
        self.assertEqual(len(seen.bits), 2)
        self.assertIsInstance(seen.settings, dict)
        self.assertEqual(tamis.Filter.from_spec("bloom1 capacity=1k fpr=0.5").kind, "bloom1")
        self.assertIn(tamis.cpu_level(), ("portable", "avx2", "avx512"))

    def test_subclasses_stay_what_they_are(self):
        class Mine(tamis.Filter):
            pass
        mine = Mine("bloom1", 100)
        mine.add(1)
        for other in (mine.copy(), Mine.from_bytes(mine.to_bytes()), Mine.from_spec("bloom1"), mine | mine):
            self.assertIs(type(other), Mine)


class Keys(unittest.TestCase):
    def test_the_same_bytes_are_the_same_key(self):
        seen = tamis.Filter("cuckoo", 1000, fpr=1e-8)
        seen.update(["a", b"b", 5, -1, "ü", True])
        same = [b"a", bytearray(b"b"), memoryview(b"b"), (5).to_bytes(8, "little"), 2**64 - 1, "ü".encode(), 1]
        self.assertTrue(all(key in seen for key in same))
        self.assertTrue(all(seen.contains_many(same)))
        self.assertFalse(any(key in seen for key in ("c", 6, b"", "5")))

    def test_what_is_no_key(self):
        seen = tamis.Filter("bloom1", 1000)
        for wrong in (1.0, None, ("a",), [], object()):
            for call in (seen.add, seen.__contains__, lambda key: seen.update([key]), lambda key: seen.contains_many(["a", key])):
                with self.assertRaisesRegex(TypeError, "encode it to bytes first"):
                    call(wrong)
        for wrong in (2**64, -2**63 - 1):
            with self.assertRaises(OverflowError):
                seen.add(wrong)
        with self.assertRaises(UnicodeEncodeError):
            seen.add("\ud800")
        for wrong in ("abc", b"abc", bytearray(b"abc")):
            with self.assertRaisesRegex(TypeError, "one key, not many"):
                seen.update(wrong)
        with self.assertRaises(TypeError):
            seen.update(5)
        self.assertEqual(len(seen), 0)

    def forms_of(self, texts):
        data = "".join(texts).encode()
        ends = [0]
        for text in texts:
            ends.append(ends[-1] + len(text.encode()))
        yield "list", texts
        yield "tuple", tuple(texts)
        yield "bytes", [text.encode() for text in texts]
        yield "iterator", iter(texts)
        yield "generator", (text for text in texts)
        yield "dict", dict.fromkeys(texts)
        yield "Strings64", tamis.Strings(array.array("q", ends), data)
        yield "Strings32", tamis.Strings(array.array("i", ends), data)
        for name in ("u", "U", "z", "Z", "vu", "vz"):
            yield name, Arrow.of_texts(texts, name)
        yield "stream", ArrowStream([Arrow.of_texts(texts[:100], "u"), Arrow.of_texts(texts[100:], "u")])
        if np is not None:
            yield "S", np.array([text.encode() for text in texts])
            yield "U", np.array(texts)
            yield "object", np.array(texts, dtype=object)
        if pd is not None:
            yield "Series", pd.Series(texts)

    def test_texts_are_the_same_in_every_form(self):
        texts = [f"name{'ü' * (i % 20)}{i}" for i in range(1000)]
        expected = tamis.Filter("rsqf", 5000)
        for text in texts:
            expected.add(text)
        for name, form in self.forms_of(texts):
            with self.subTest(form=name):
                seen = tamis.Filter("rsqf", 5000)
                seen.update(form)
                self.assertEqual(seen.to_bytes(), expected.to_bytes())
        strangers = [f"other {i}" for i in range(1000)]
        half = texts[:500] + strangers[:500]
        answers = [text in expected for text in half]
        for name, form in self.forms_of(half):
            with self.subTest(asked=name):
                self.assertEqual(list(map(bool, expected.contains_many(form))), answers)

    def test_integers_are_the_same_in_every_form(self):
        numbers = list(range(100))
        expected = tamis.Filter("rsqf", 1000)
        expected.update(numbers)
        forms = [array.array(letter, numbers) for letter in "bBhHiIlLqQ"]
        forms += [memoryview(array.array("q", numbers)), range(100), Arrow.of_integers(numbers, "l", "q"), Arrow.of_integers(numbers, "S", "H")]
        if np is not None:
            forms += [np.arange(100, dtype=name) for name in ("int8", "uint16", "int32", "uint64", ">i4", "<i8")]
            forms += [np.arange(200, dtype="u8")[::2] // 2, np.repeat(np.arange(100), 2)[::2], np.arange(99, -1, -1)[::-1],
                      list(np.arange(100)), pd.Series(numbers) if pd is not None else numbers]
        for form in forms:
            with self.subTest(form=repr(form)[:60]):
                seen = tamis.Filter("rsqf", 1000)
                seen.update(form)
                self.assertEqual(seen.to_bytes(), expected.to_bytes())
        negative = tamis.Filter("rsqf", 1000)
        negative.update(array.array("b", [-1, -2]))
        self.assertIn(2**64 - 2, negative)

    def test_nulls_and_slices_of_arrow(self):
        texts = words(100)
        seen = tamis.Filter("cuckoo", 1000, fpr=1e-8)
        for name in ("u", "U", "vu"):
            part = Arrow.of_texts(texts, name, offset=10, nulls={12, 40})
            self.assertEqual(list(map(bool, seen.contains_many(part))), [False] * 90)
        seen.update(Arrow.of_texts(texts, "u", offset=10, nulls={12, 40}))
        self.assertEqual(len(seen), 88)
        expected = [False] * 10 + [i not in (12, 40) for i in range(10, 100)]
        self.assertEqual([text in seen for text in texts], expected)
        found = list(map(bool, seen.contains_many(Arrow.of_texts(texts, "vu", offset=10, nulls={50}))))
        self.assertEqual(found, [i not in (12, 40, 50) for i in range(10, 100)])

    def test_arrow_is_released(self):
        for name in ("u", "vu"):
            part = Arrow.of_texts(words(10), name)
            tamis.Filter("bloom1", 100).update(part)
            self.assertEqual(part.released, 1)
        wrong = Arrow.of_integers([1], "g", "q")
        with self.assertRaisesRegex(TypeError, "format 'g'"):
            tamis.Filter("bloom1", 100).update(wrong)
        self.assertEqual(wrong.released, 1)

    def test_offsets_that_lead_astray(self):
        seen = tamis.Filter("bloom1", 100)
        for ends in ([0, 4], [2, 1], [-1, 2], [0, 2**40]):
            with self.assertRaises(ValueError):
                seen.update(tamis.Strings(array.array("q", ends), b"abc"))
        with self.assertRaises(TypeError):
            seen.update(tamis.Strings(array.array("d", [0.0]), b"abc"))

    @unittest.skipIf(np is None, "needs numpy")
    def test_answers_of_numpy(self):
        seen = tamis.Filter("cuckoo", 1000)
        seen.update(np.arange(100))
        answers = seen.contains_many(np.arange(10))
        self.assertEqual((answers.dtype, answers.shape), (np.dtype(bool), (10,)))
        out = np.zeros(10, dtype=bool)
        self.assertIs(seen.contains_many(np.arange(10), out=out), out)
        self.assertTrue(out.all())
        with self.assertRaisesRegex(ValueError, "out: has 10 bytes"):
            seen.contains_many(np.arange(11), out=out)
        with self.assertRaises((ValueError, BufferError)):
            seen.contains_many([1], out=b"x")
        self.assertEqual(seen.count_many(np.arange(10)).dtype, np.dtype("uint64"))
        self.assertEqual(seen.hash_many(np.arange(10)).shape, (10, 2))
        with self.assertRaisesRegex(ValueError, "one dimension"):
            seen.update(np.zeros((2, 2), dtype=int))
        with self.assertRaises(TypeError):
            seen.update(np.array([1.5]))

    def test_an_item_may_use_the_filter(self):
        seen = tamis.Filter("evergreen", 1000)

        class Index:
            def __index__(self):
                seen.add("from within")
                return 7
        seen.update(["a", Index(), "b"])
        self.assertTrue(all(key in seen for key in ("a", "b", 7, "from within")))


class Arrow:
    """An array of Arrow, written out: there is no pyarrow in Debian."""

    class Schema(ctypes.Structure):
        pass

    class Array(ctypes.Structure):
        pass

    def __init__(self, form, length, buffers, offset=0, nulls=()):
        self.released = 0
        self.form = form.encode()
        self.kept = list(buffers)
        validity = None
        if nulls:
            bits = bytearray(b"\xff" * ((length + offset) // 8 + 1))
            for i in nulls:
                bits[i // 8] &= ~(1 << i % 8)
            validity = (ctypes.c_char * len(bits)).from_buffer(bits)
        pointers = [validity] + [(ctypes.c_char * max(1, len(b))).from_buffer_copy(bytes(b) or b"\0") for b in self.kept]
        self.kept = pointers
        self.pointers = (ctypes.c_void_p * len(pointers))(*[ctypes.addressof(p) if p is not None else None for p in pointers])

        def release(array):
            self.released += 1
            ctypes.cast(array, ctypes.POINTER(Arrow.Array)).contents.release = Arrow.RELEASE()
        self.release = Arrow.RELEASE(release)
        self.schema = Arrow.Schema(format=self.form)
        self.array = Arrow.Array(length=length, null_count=len(nulls), offset=offset, n_buffers=len(pointers),
                                 buffers=ctypes.cast(self.pointers, ctypes.c_void_p), release=self.release)

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array")

    @classmethod
    def of_integers(cls, numbers, form, letter):
        return cls(form, len(numbers), [array.array(letter, numbers).tobytes()])

    @classmethod
    def of_texts(cls, texts, form, offset=0, nulls=()):
        parts = [text.encode() for text in texts]
        count = len(parts) - offset
        if form.startswith("v"):
            views, data = b"", b""
            for part in parts:
                size = len(part).to_bytes(4, "little")
                if len(part) <= 12:
                    views += size + part.ljust(12, b"\0")
                else:
                    views += size + part[:4] + (0).to_bytes(4, "little") + len(data).to_bytes(4, "little")
                    data += part
            return cls(form, count, [views, data, len(data).to_bytes(8, "little")], offset, nulls)
        ends = [0]
        for part in parts:
            ends.append(ends[-1] + len(part))
        letter = "i" if form in "uz" else "q"
        return cls(form, count, [array.array(letter, ends).tobytes(), b"".join(parts)], offset, nulls)


Arrow.RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Arrow.Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                         ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p),
                         ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
Arrow.Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p),
                        ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", Arrow.RELEASE),
                        ("private_data", ctypes.c_void_p)]


def capsule(structure, name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(structure), name, None)


class ArrowStream:
    SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Arrow.Schema))
    NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Arrow.Array))
    LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

    class Stream(ctypes.Structure):
        pass

    def __init__(self, arrays, fails=False):
        waiting = list(arrays)
        self.arrays = arrays

        def get_schema(_, out):
            out[0] = arrays[0].schema
            return 0

        def get_next(_, out):
            if fails:
                return 5
            if waiting:
                out[0] = waiting.pop(0).array
            return 0
        self.functions = (self.SCHEMA(get_schema), self.NEXT(get_next), self.LAST_ERROR(lambda _: None))
        self.stream = self.Stream(*self.functions)

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self.stream, b"arrow_array_stream")


ArrowStream.Stream._fields_ = [("get_schema", ArrowStream.SCHEMA), ("get_next", ArrowStream.NEXT), ("get_last_error", ArrowStream.LAST_ERROR),
                               ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Adapting(unittest.TestCase):
    def test_a_batch_that_makes_the_filter_grow_loses_none(self):
        seen = tamis.Filter(capacity=100)
        stored = tamis.Remote(seen)
        for first in range(0, 8000, 1000):
            seen.update(range(first, first + 1000), stored)
            stored.update(range(first, first + 1000))
        self.assertTrue(all(seen.contains_many(range(8000))))

    def test_mistakes_are_fixed(self):
        for kind in ("evergreen", "taf", "exaf"):
            seen = tamis.Filter(kind, 20000, fpr=0.05)
            stored = tamis.Remote(seen)
            members = words(10000)
            seen.update(members, stored)
            stored.update(members)
            self.assertEqual(len(stored), 10000)
            wrong = [word for word in words(20000, "stranger") if word in seen]
            self.assertGreater(len(wrong), 100)
            self.assertGreater(seen.adapt(wrong, stored), len(wrong) * 0.9)
            self.assertLess(sum(word in seen for word in wrong), len(wrong) * 0.1)
            self.assertTrue(all(seen.contains_many(members)))
            self.assertTrue(stored.discard("key 1"))
            self.assertFalse(stored.discard("stranger 1"))

    def test_a_remote_of_another_hash_is_refused(self):
        seen = tamis.Filter("taf", 100)
        with self.assertRaises(tamis.WrongHash):
            seen.adapt(["a"], tamis.Remote(tamis.Filter("taf", 100, seed=3)))
        with self.assertRaises(TypeError):
            seen.adapt(["a"], {"a"})


    def test_known_mistakes_need_no_remote(self):
        seen = tamis.Filter("bloom1", 1000, fpr=0.2, mistakes=50)
        self.assertEqual((seen.kind, seen.known_mistakes), ("bloom1+mistakes", 0))
        seen.update(range(1000))
        wrong = [key for key in range(1000, 3000) if key in seen][:50]
        self.assertEqual(seen.adapt(wrong), 50)
        self.assertEqual((seen.known_mistakes, sum(key in seen for key in wrong)), (50, 0))
        self.assertTrue(all(seen.contains_many(range(1000))))


class Files(unittest.TestCase):
    @of_every_kind
    def test_mapped(self, kind):
        seen = tamis.Filter(kind, 300_000)
        seen.update(array.array("Q", range(20_000)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "seen"
            seen.save(path)
            saved = path.read_bytes()
            mapped = tamis.Filter.open_mapped(path)
            self.assertTrue(all(mapped.contains_many(range(20_000))))
            mapped.verify()
            self.assertTrue(mapped.is_verified and seen.is_verified)
            mapped.add("another")
            self.assertIn("another", mapped)
            self.assertEqual(path.read_bytes(), saved)
            self.assertEqual(pickle.loads(pickle.dumps(mapped)).to_bytes(), mapped.to_bytes())

    def test_damage_is_found_by_verify(self):
        seen = tamis.Filter("bloom1", 1_000_000)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "seen"
            seen.save(path)
            damaged = bytearray(path.read_bytes())
            damaged[len(damaged) // 2] ^= 1
            path.write_bytes(damaged)
            mapped = tamis.Filter.open_mapped(path)
            self.assertFalse(mapped.is_verified)
            with self.assertRaisesRegex(tamis.Corrupt, str(path)):
                mapped.verify()
            with self.assertRaises(FileNotFoundError):
                tamis.Filter.open_mapped(path.with_name("other"))

    def test_fold(self):
        seen = tamis.Filter("bloom", 1_000_000)
        seen.update(range(1000))
        before = seen.nbytes
        by = seen.fold(0.01)
        self.assertGreater(by, 10)
        self.assertLess(seen.nbytes, before / 10)
        self.assertLessEqual(seen.expected_fpr, 0.01)
        self.assertTrue(all(seen.contains_many(range(1000))))
        with self.assertRaises(ValueError):
            seen.fold(2)
        with self.assertRaises(TypeError):
            seen.fold("x")
        with self.assertRaises(tamis.Unsupported):
            tamis.Filter("taf", 100).fold(0.01)


class Concurrent(unittest.TestCase):
    @of_every_kind
    def test_is_a_filter_like_others(self, kind):
        seen = tamis.Filter(kind, 20_000, concurrent=True, stripes=2)
        self.assertEqual((seen.stripes, seen.kind), (2, kind))
        seen.update(words(1000))
        others = [seen.copy(), pickle.loads(pickle.dumps(seen)), tamis.Filter.from_bytes(seen.to_bytes())]
        with tempfile.TemporaryDirectory() as folder:
            seen.save(pathlib.Path(folder) / "seen")
            others.append(tamis.Filter.load(pathlib.Path(folder) / "seen"))
        for other in others:
            self.assertEqual((other.stripes, len(other)), (2, 1000))
            self.assertEqual(other.to_bytes(), seen.to_bytes())
        if "merge" in seen.can:
            other = tamis.Filter(kind, 20_000, concurrent=True, stripes=2)
            other.update(words(1000, "other"))
            seen |= other
            self.assertTrue(all(seen.contains_many(words(1000, "other"))))
        self.assertTrue(all(seen.contains_many(words(1000))))

    def test_adapts(self):
        seen = tamis.Filter("taf", 20_000, fpr=0.05, concurrent=True)
        stored = tamis.Remote(seen)
        seen.update(range(10_000), stored)
        stored.update(range(10_000))
        wrong = [key for key in range(10_000, 30_000) if key in seen]
        self.assertGreater(len(wrong), 100)
        self.assertGreater(seen.adapt(wrong, stored), len(wrong) * 0.9)
        self.assertTrue(all(seen.contains_many(range(10_000))))

    def test_what_it_refuses(self):
        self.assertEqual(tamis.Filter("bloom1", 100).stripes, 0)
        with self.assertRaises(ValueError):
            tamis.Filter("bloom1", 100, concurrent=True, stripes=3)
        with self.assertRaises(ValueError):
            tamis.Filter("bloom1", 100, stripes=2)
        with self.assertRaises(tamis.Unsupported):
            tamis.Filter("bloom1", 100, concurrent=True).fold(0.01)
        with self.assertRaises(ValueError):
            tamis.Filter("cqf", 100).merge(tamis.Filter("cqf", 100, concurrent=True))


class Differences(unittest.TestCase):
    def setUp(self):
        seen = tamis.Filter("cuckoo", 100_000)
        seen.update(range(5000))
        self.old = seen.to_bytes()
        seen.update(range(10_000, 10_020))
        self.now = seen.to_bytes()

    def test_of_bytes(self):
        patch = tamis.diff(self.old, bytearray(self.now))
        self.assertIsInstance(patch, bytes)
        self.assertLess(len(patch), len(self.now) / 10)
        self.assertEqual(tamis.patch(self.old, memoryview(patch)), self.now)
        with self.assertRaises(ValueError):
            tamis.patch(self.now, patch)
        sums = tamis.checksums(self.old)
        self.assertLess(len(sums), len(self.old) / 100)
        self.assertEqual(tamis.patch(self.old, tamis.diff(sums, self.now)), self.now)

    def test_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            old, now, patch = (pathlib.Path(folder) / name for name in ("old", "now", "patch"))
            old.write_bytes(self.old)
            now.write_bytes(self.now)
            patch.write_bytes(tamis.diff_files(old, now))
            self.assertEqual(patch.read_bytes(), tamis.diff(self.old, self.now))
            self.assertEqual(tamis.checksums_of_file(str(old)), tamis.checksums(self.old))
            self.assertIsNone(tamis.patch_file(old, patch))
            self.assertEqual(old.read_bytes(), self.now)
            with self.assertRaises(ValueError):
                tamis.patch_file(old, patch)
            self.assertEqual(old.read_bytes(), self.now)

    def test_errors_name_the_thing(self):
        for call, error, text in ((lambda: tamis.diff(b"junk", self.now), tamis.Corrupt, ""),
                                  (lambda: tamis.diff(self.old, "text"), TypeError, "bytes-like"),
                                  (lambda: tamis.diff(self.old), TypeError, "argument"),
                                  (lambda: tamis.checksums_of_file("/nowhere/at/all"), FileNotFoundError, "nowhere"),
                                  (lambda: tamis.diff_files("/nowhere/at/all", "/nowhere/else"), FileNotFoundError, "nowhere/at"),
                                  (lambda: tamis.diff_files(5, "/nowhere/else"), TypeError, "PathLike"),
                                  (lambda: tamis.patch_file("/nowhere/at/all", "/nowhere/else"), FileNotFoundError, "nowhere")):
            with self.assertRaisesRegex(error, text):
                call()


class Errors(unittest.TestCase):
    def test_hierarchy(self):
        for error, others in ((tamis.Full, ()), (tamis.Corrupt, (ValueError,)), (tamis.WrongHash, (ValueError,)), (tamis.Unsupported, (TypeError,))):
            self.assertEqual(error.__bases__, (tamis.Error, *others))
            self.assertEqual(error.__module__, "tamis")
        self.assertEqual(tamis.Error.__bases__, (Exception,))

    def test_they_name_the_thing(self):
        for call, error, text in (
                (lambda: tamis.Filter("nosuch"), tamis.Error, "nosuch"),
                (lambda: tamis.Filter("bloom1 capacity=3"), ValueError, "kind"),
                (lambda: tamis.Filter("bloom1", 10, fpr="0.1 seed=5"), ValueError, "no blanks"),
                (lambda: tamis.Filter("bloom1", 10, fpr=7), ValueError, "fpr"),
                (lambda: tamis.Filter("bloom1", 10, nosuch=1), ValueError, "nosuch"),
                (lambda: tamis.Filter("bloom1", 10, secret=b"short"), ValueError, "16 bytes"),
                (lambda: tamis.Filter("cuckoo", 10**14), MemoryError, "TiB"),
                (lambda: tamis.Filter.load("/nowhere/at/all"), FileNotFoundError, "nowhere"),
                (lambda: tamis.Filter("bloom1").save("/nowhere/at/all"), FileNotFoundError, "nowhere"),
                (lambda: tamis.Filter.from_bytes(b"junk"), tamis.Corrupt, ""),
                (lambda: tamis.Filter("bloom1").remove("a"), tamis.Unsupported, "bloom1")):
            with self.assertRaisesRegex(error, text):
                call()

    def test_every_cut_is_refused(self):
        seen = tamis.Filter("rsqf", 100)
        seen.update(words(50))
        saved = seen.to_bytes()
        for size in range(len(saved)):
            with self.assertRaises(tamis.Corrupt):
                tamis.Filter.from_bytes(saved[:size])

    def test_full(self):
        seen = tamis.Filter("cuckoo", 100)
        kept = []
        with self.assertRaises(tamis.Full):
            for word in words(10000):
                seen.add(word)
                kept.append(word)
        with self.assertRaises(tamis.Full):
            seen.update(words(1000, "more"))
        self.assertTrue(all(seen.contains_many(kept)))

    def test_secrets(self):
        secret = bytes(range(16))
        seen = tamis.Filter("taf", 100, secret=secret)
        seen.add("a")
        with self.assertRaisesRegex(TypeError, "secret"):
            pickle.dumps(seen)
        with self.assertRaises(tamis.WrongHash):
            tamis.Filter.from_bytes(seen.to_bytes())
        with self.assertRaises(tamis.WrongHash):
            tamis.Filter.from_bytes(seen.to_bytes(), secret=bytes(16))
        self.assertIn("a", tamis.Filter.from_bytes(seen.to_bytes(), secret=secret))


class Processes(unittest.TestCase):
    def test_python_hash_seed_does_not_matter(self):
        program = ("import tamis, sys; f = tamis.Filter('evergreen', 1000); f.update([str(i) for i in range(500)]);"
                   "sys.stdout.buffer.write(f.to_bytes())")
        outputs = {subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                                  capture_output=True).stdout for seed in "12"}
        self.assertEqual(len(outputs), 1)

    def test_works_without_numpy(self):
        program = ("import sys; sys.modules['numpy'] = None; import tamis; f = tamis.Filter('cuckoo', 100); f.update(['a', 'b']);"
                   "assert f.contains_many(['a', 'b']) == bytearray(b'\\1\\1'); assert len(f.hash_many(['a'])) == 16")
        subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True)

    @unittest.skipIf(TOOL is None, "needs the tool")
    def test_the_tool_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path, keys = pathlib.Path(folder) / "seen.tamis", pathlib.Path(folder) / "keys"
            seen = tamis.Filter("evergreen", 2000)
            seen.update(words(1000))
            seen.save(path)
            asked = words(100) + words(1000, "stranger")
            keys.write_text("\n".join(asked) + "\n")
            output = subprocess.run([TOOL, "check", path, keys], check=False, capture_output=True, text=True).stdout
            self.assertEqual(output.splitlines(), [key for key in asked if key in seen])

    def test_memory_stays_flat(self):
        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
        seen = tamis.Filter("evergreen", 1000)
        keys = words(10)

        def rounds():
            for _ in range(20000):
                seen.contains_many(keys)
            for _ in range(100):
                pickle.loads(pickle.dumps(seen))
                seen.copy().update(Arrow.of_texts(keys, "u"))
            for _ in range(2000):
                try:
                    seen.add(None)
                except TypeError:
                    pass
        rounds()
        before = resident()
        rounds()
        rounds()
        self.assertLess(resident() - before, 4 << 20)


class Threads(unittest.TestCase):
    """A writer in one thread, readers in others: buffers (without the GIL), lists and single keys. No member may be missed."""

    seconds = float(os.environ.get("TAMIS_RACE_SECONDS", "0.3"))

    @of_every_kind
    def test_no_member_is_missed_while_another_thread_writes(self, kind):
        members = array.array("Q", range(20000))
        listed = list(members[:500])
        missed, stop = [], threading.Event()

        def ask(seen, how):
            while not stop.is_set():
                if how == "buffer":
                    good = all(seen.contains_many(members))
                elif how == "list":
                    good = all(seen.contains_many(listed))
                else:
                    good = all(key in seen for key in listed)
                if not good:
                    missed.append(how)
        seen = tamis.Filter(kind, 200_000)
        seen.update(members)
        readers = [threading.Thread(target=ask, args=(seen, how)) for how in ("buffer", "list", "single")]
        for reader in readers:
            reader.start()
        timer = threading.Timer(self.seconds, stop.set)
        timer.start()
        next_key = 20000
        while not stop.is_set() and next_key < 190_000:
            seen.update(array.array("Q", range(next_key, next_key + 2000)))
            next_key += 2000
        stop.set()
        for thread in [*readers, timer]:
            thread.join()
        self.assertEqual(missed, [])

    def check_turns(self, begun, action):
        """`action` begins while a batch runs in another thread, without the GIL, and must end after it. Without a lock it ends at once."""
        for attempt in range(200):
            order, inside, seen = [], threading.Event(), begun()

            def run_batch():
                inside.set()
                seen.batch()
                order.append("batch")
            thread = threading.Thread(target=run_batch)
            thread.start()
            inside.wait()
            time.sleep(attempt % 4 * 5e-4)
            if not order:
                action(seen)
                order.append("action")
            thread.join()
            if order == ["batch", "action"]:
                return
            # Too early: the batch had not begun. Too late: it was over. What comes again and again is no accident.
        self.fail("what another thread reads or writes was not waited for")

    @of_every_kind
    def test_they_take_turns(self, kind):
        asked, out, some = array.array("Q", range(2_000_000)), bytearray(2_000_000), array.array("Q", range(5))

        class Asked(tamis.Filter):
            def batch(self):
                self.contains_many(asked, out=out)

        class Filled(tamis.Filter):
            def batch(self):
                self.update(asked[:200_000])
        for change in (lambda seen: seen.add(7), lambda seen: seen.update([8, 9]), lambda seen: seen.update(some)):
            self.check_turns(lambda: Asked(kind, 10_000), change)
        for look in (lambda seen: 7 in seen, lambda seen: seen.contains_many([7]), lambda seen: seen.contains_many(some), len,
                     lambda seen: seen.to_bytes()):
            self.check_turns(lambda: Filled(kind, 300_000), look)

    @of_every_kind
    def test_a_concurrent_filter_misses_nothing_while_all_write(self, kind):
        seen = tamis.Filter(kind, 60_000, concurrent=True)
        members = array.array("Q", range(10_000))
        seen.update(members)
        missed, done = [], threading.Event()

        def ask():
            while not done.is_set():
                if not all(seen.contains_many(members)) or 7 not in seen:
                    missed.append("asked")

        def fill(first):
            for begin in range(first, first + 10_000, 500):
                own = array.array("Q", range(begin, begin + 500))
                seen.update(own)
                seen.to_bytes()
                if not all(seen.contains_many(own)) or not all(seen.contains_many(list(own))):
                    missed.append("filled")
        threads = [threading.Thread(target=fill, args=(first,)) for first in (100_000, 200_000, 300_000)]
        reader = threading.Thread(target=ask)
        for thread in [reader, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        reader.join()
        self.assertEqual(missed, [])
        self.assertEqual(len(seen), 40_000)

    def test_in_a_concurrent_filter_nobody_waits_for_a_batch(self):
        asked = array.array("Q", range(2_000_000))
        for change in (lambda seen: seen.add(7), lambda seen: seen.update([8, 9]), lambda seen: seen.update(asked[:5])):
            seen = tamis.Filter("evergreen", 10_000, concurrent=True)
            for _ in range(40):
                out = bytearray(b"\7") * len(asked)
                batch = threading.Thread(target=seen.contains_many, args=(asked, out))
                batch.start()
                while out[0] == 7:  # it has not begun
                    time.sleep(0)
                change(seen)
                during = out[-1] == 7
                batch.join()
                if during:
                    break
            else:
                self.fail("a change waited for a batch of lookups every time")

    def test_the_gil_is_free_during_a_batch(self):
        seen = tamis.Filter("evergreen", 1_000_000)
        keys = array.array("Q", range(4_000_000))
        steps, done = [0], threading.Event()

        def count():
            while not done.is_set():
                steps[0] += 1
        counter = threading.Thread(target=count)
        counter.start()
        before = steps[0]
        seen.contains_many(keys, out=bytearray(len(keys)))
        during = steps[0] - before
        done.set()
        counter.join()
        self.assertGreater(during, 1000)


if __name__ == "__main__":
    unittest.main()
