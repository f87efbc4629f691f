"""How fast the module is, in ratios taken in one run: `in` beside a set of the same million keys, batches of numpy beside the C++ batch, lists
of str beside a loop over a set. Times are CPU time of the process, the least of many rounds, contenders in turns.

  tests/python/bench.py BUILD        BUILD: a Release build, whose python/ and libtamis.a are measured"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # noqa: E402

import tamis  # noqa: E402

KEYS = 1_000_000
ROUNDS = 15

# The C++ batch on the same file and keys.
BATCH = """
#include <tamis/any_filter.hpp>
extern "C" void* opened(const char* path) { return new tamis::any_filter(tamis::load_file(path).value()); }
extern "C" void ask(const void* filter, const std::uint64_t* keys, std::size_t count, bool* out) {
  static_cast<const tamis::any_filter*>(filter)->may_contain_many(std::span(keys, count), std::span(out, count));
}
"""


def compiled(folder):
    source, library = folder / "batch.cpp", folder / "batch.so"
    source.write_text(BATCH)
    subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}", source, BUILD / "libtamis.a", "-pthread", "-o", library],
                   check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.opened.restype = ctypes.c_void_p
    loaded.opened.argtypes = [ctypes.c_char_p]
    loaded.ask.restype = None
    loaded.ask.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_size_t, ctypes.c_void_p]
    return loaded


def best_of(contenders):
    """Nanoseconds a key for each, the least of all rounds."""
    best = {name: float("inf") for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            began = time.process_time_ns()
            work()
            best[name] = min(best[name], time.process_time_ns() - began)
    return {name: ns / KEYS for name, ns in best.items()}


def looped(keys, container):
    return [key in container for key in keys]


def measured(kind, cxx, folder):
    random = np.random.default_rng(1)
    numbers = random.integers(0, 2**63, 2 * KEYS, dtype=np.uint64)
    asked = np.concatenate([numbers[:KEYS // 2], numbers[KEYS:KEYS + KEYS // 2]])
    random.shuffle(asked)
    asked_list, members = asked.tolist(), set(numbers[:KEYS].tolist())
    texts = [f"user{number}@mail" for number in numbers.tolist()]
    asked_texts, text_members = texts[:KEYS // 2] + texts[KEYS:KEYS + KEYS // 2], set(texts[:KEYS])
    of_numbers, of_texts = (tamis.Filter(kind, KEYS, fpr=0.01) for _ in range(2))
    of_numbers.update(numbers[:KEYS])
    of_texts.update(texts[:KEYS])
    path, out = folder / kind, np.empty(KEYS, dtype=bool)
    of_numbers.save(path)
    same = cxx.opened(os.fsencode(path))
    cxx.ask(same, asked.ctypes.data, KEYS, out.ctypes.data)
    assert (out == of_numbers.contains_many(asked)).all()
    ns = best_of({"set, in": lambda: looped(asked_list, members), "in": lambda: looped(asked_list, of_numbers),
                  "C++ batch": lambda: cxx.ask(same, asked.ctypes.data, KEYS, out.ctypes.data),
                  "numpy": lambda: of_numbers.contains_many(asked, out=out),
                  "set, str": lambda: looped(asked_texts, text_members), "str": lambda: looped(asked_texts, of_texts),
                  "list of str": lambda: of_texts.contains_many(asked_texts, out=out)})
    ratios = (ns["in"] / ns["set, in"], ns["numpy"] / ns["C++ batch"], ns["list of str"] / ns["set, str"])
    print(f"| {kind} | " + " | ".join(f"{ns[name]:.1f}" for name in ns) + " | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")


def main():
    print(f"{KEYS} keys, {ROUNDS} rounds, CPU {tamis.cpu_level()}, load {os.getloadavg()[0]:.1f}")
    print("| | set, in | in | C++ batch | numpy | set, str | str | list of str | in / set | numpy / C++ | list / set |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cxx = compiled(folder)
        for kind in sys.argv[2:] or ["bloom1", "cuckoo", "evergreen"]:
            measured(kind, cxx, folder)


if __name__ == "__main__":
    main()
