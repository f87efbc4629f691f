"""tamis.Store as a Python program uses it: a dictionary's habits, order, batches, errors, threads, and what is there after a restart."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import tamis


class StoreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "store"

    def opened(self, **options):
        store = tamis.Store(self.path, capacity=10_000, **options)
        self.addCleanup(store.close)
        return store


class Dictionary(StoreTest):
    def check_habits(self, store):
        store["a"] = b"1"
        store[b"b"] = bytearray(b"2")
        store["empty"] = memoryview(b"")
        self.assertTrue("a" in store and b"a" in store and "b" in store and "empty" in store and "c" not in store)
        self.assertEqual((store["a"], store[b"b"], store["empty"], store.get("c"), store.get("c", 7)), (b"1", b"2", b"", None, 7))
        store["a"] = b"one"
        self.assertEqual(store["a"], b"one")
        del store["a"]
        self.assertNotIn("a", store)
        for missing in (lambda: store["a"], lambda: store.__delitem__("a"), lambda: store.pop("a")):
            with self.assertRaisesRegex(KeyError, "'a'"):
                missing()
        self.assertEqual((store.pop("a", 5), store.pop("b"), store.discard("b"), store.discard("empty")), (5, b"2", False, True))

    def test_habits_on_disk(self):
        self.check_habits(self.opened())

    def test_habits_in_memory(self):
        with tamis.Store() as store:
            self.check_habits(store)

    def test_against_a_dict(self):
        model, store = {}, self.opened(kind="taf")
        state = 12345
        for step in range(3000):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            key, action = f"key {state >> 40 & 255}", state >> 60
            if action < 8:
                model[key] = store[key] = b"%d" % step
            elif action < 11:
                self.assertEqual(store.discard(key), model.pop(key, None) is not None)
            else:
                self.assertEqual(store.get(key), model.get(key))
                self.assertEqual(key in store, key in model)
        wanted = [f"key {i}" for i in range(300)]
        self.assertEqual(store.get_many(wanted), [model.get(key) for key in wanted])
        self.assertTrue(all(store.may_contain(key) for key in model))

    def test_many(self):
        store = self.opened()
        store.write({f"k{i}": b"%d" % i for i in range(2000)}, erases=["k3", b"k4", "not there"])
        store.update([("k5", b"five")])
        store.load((f"l{i}", bytes(i)) for i in range(600))
        self.assertEqual(store.get_many(["k3", b"k4", "k5", bytearray(b"k6")]), [None, None, b"five", b"6"])
        self.assertEqual(store.get_many(f"l{i}" for i in range(601)), [bytes(i) for i in range(600)] + [None])
        self.assertEqual(store.get_many([]), [])
        self.assertGreater(store.stats()["queries"], 0)

    def test_a_batch_happens_whole_or_not_at_all(self):
        store = self.opened()

        def puts():
            yield "a", b"1"
            raise ZeroDivisionError
        for call, error in ((lambda: store.write(puts()), ZeroDivisionError), (lambda: store.write([("a", b"1"), ("b", "text")]), TypeError),
                            (lambda: store.write([("a", b"1")], [5]), TypeError), (lambda: store.write([("a",)]), ValueError),
                            (lambda: store.load([("a", b"1"), 5]), TypeError)):
            with self.assertRaises(error):
                call()
            self.assertNotIn("a", store)

    def test_order(self):
        store = self.opened(ordered=True)
        keys = sorted(f"{i:04}".encode() for i in range(0, 2000, 3)) + [b"\xff", b"\xff\x00"]
        store.write((key, key[::-1]) for key in reversed(keys))
        self.assertEqual(list(store), keys)
        self.assertEqual(list(store.items()), [(key, key[::-1]) for key in keys])
        self.assertEqual(list(store.values()), [key[::-1] for key in keys])
        for start in (b"", "0500", "0501", b"1998", b"\xff\x00", b"\xff\x01"):
            first = start if isinstance(start, bytes) else start.encode()
            self.assertEqual(list(store.keys(start)), [key for key in keys if key >= first])
        self.assertEqual(next(store.items("0002")), (b"0003", b"3000"))

    def test_no_order_without_asking(self):
        store = self.opened()
        for call in (lambda: iter(store), store.items, store.keys):
            with self.assertRaises(tamis.Unsupported):
                call()


class Life(StoreTest):
    def test_comes_back(self):
        with tamis.Store(self.path, "exaf", 1000, sync=True) as store:
            store["a"] = b"1"
            store.snapshot()
            store["b"] = b"2"
        self.assertTrue(store.closed)
        with tamis.Store(str(self.path), "exaf", capacity=1000) as store:
            store.wait()
            self.assertEqual((store["a"], store["b"], "c" in store), (b"1", b"2", False))
            self.assertNotEqual(store.stats()["recovered"], "created")
            with self.assertRaises((tamis.Error, OSError)):
                tamis.Store(self.path, "exaf", 1000)

    def test_comes_back_when_nobody_closed_it(self):
        program = ("import os, sys, tamis; s = tamis.Store(sys.argv[1], capacity=1000)\n"
                   "for i in range(500): s[f'k{i}'] = b'%d' % i\nos._exit(0)")
        subprocess.run([sys.executable, "-c", program, str(self.path)], check=True)
        store = self.opened()
        self.assertEqual(store.get_many(f"k{i}" for i in range(500)), [b"%d" % i for i in range(500)])

    def test_closing(self):
        store = self.opened()
        store["a"] = b"1"
        self.assertEqual(repr(store), "<tamis.Store, open>")
        store.close()
        store.close()
        self.assertEqual(repr(store), "<tamis.Store, closed>")
        for call in (lambda: "a" in store, lambda: store["a"], lambda: store.__setitem__("a", b"2"), lambda: store.discard("a"),
                     lambda: store.get_many(["a"]), lambda: store.write({"a": b"2"}), store.snapshot, store.stats, store.wait,
                     lambda: store.may_contain("a"), store.items):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_the_end_of_the_object_closes(self):
        store = tamis.Store(self.path, capacity=1000)
        store["a"] = b"1"
        del store
        self.assertEqual(self.opened()["a"], b"1")


class Errors(StoreTest):
    def test_they_name_the_thing(self):
        store = self.opened()
        for call, error, text in (
                (lambda: store.__setitem__(5, b""), TypeError, "str or bytes, not int"),
                (lambda: 5 in store, TypeError, "str or bytes, not int"),
                (lambda: store.__setitem__("a", "b"), TypeError, "a value is bytes"),
                (lambda: store.__setitem__("a", 5), TypeError, "a value is bytes"),
                (lambda: store.get_many("abc"), TypeError, "one key, not many"),
                (lambda: store.get_many(["a", None]), TypeError, "encode it to bytes"),
                (lambda: store.write((), "abc"), TypeError, "one key, not many"),
                (lambda: tamis.Store(None, "nosuch"), tamis.Error, "nosuch"),
                (lambda: tamis.Store(None, ordered=True), tamis.Unsupported, "ordered"),
                (lambda: tamis.Store(None, sync="perhaps"), ValueError, "sync"),
                (lambda: tamis.Store(None, secret=b"short"), ValueError, "16 bytes"),
                (lambda: tamis.Store(None, nosuch=5), ValueError, "nosuch"),
                (lambda: tamis.Store("/proc/nowhere"), (tamis.Error, OSError), "nowhere"),
                (lambda: tamis.Store(5), TypeError, "")):
            with self.assertRaisesRegex(error, text):
                call()


class Threads(StoreTest):
    def test_threads_use_it_and_one_closes_it(self):
        store = self.opened(ordered=True)
        store.write({f"k{i}": b"value" for i in range(1000)})
        wrong, closed = [], threading.Event()

        def work(of):
            for step in range(10**9):
                key = f"k{(of * 331 + step) % 1000}"
                try:
                    if store[key] != b"value" or store.get_many([key, "absent"]) != [b"value", None]:
                        wrong.append(key)
                    store[f"own {of} {step}"] = b"x"
                    if f"own {of} {step}" not in store or len(list(zip(range(20), store.items(key)))) == 0:
                        wrong.append(step)
                except ValueError as error:
                    if str(error) != "the store is closed" or not store.closed:
                        wrong.append(error)
                    break
            closed.wait(60)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        threading.Event().wait(float(os.environ.get("TAMIS_RACE_SECONDS", "0.5")))
        store.close()
        closed.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        again = self.opened(ordered=True)
        self.assertEqual(again.get_many(f"k{i}" for i in range(1000)), [b"value"] * 1000)

    def test_the_gil_is_free_while_a_store_loads(self):
        store, steps, done = self.opened(), [0], threading.Event()

        def count():
            while not done.is_set():
                steps[0] += 1
        entries = [(f"k{i}", bytes(100)) for i in range(100_000)]
        counter = threading.Thread(target=count)
        counter.start()
        store.load(entries)
        done.set()
        counter.join()
        self.assertGreater(steps[0], 1000)


if __name__ == "__main__":
    unittest.main()
