"""The demo of the first page: the library compiled to WebAssembly, if Emscripten is there. The result is kept until a source changes."""

import hashlib
import pathlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent / "demo"
# What bloom, evergreen and memory_remote need of the compiled library.
SOURCES = ["memory", "result", "params", "detail/base/zeroed_array", "detail/io/archive", "detail/math/binomial", "detail/math/bloom",
           "detail/math/growth", "detail/math/quotient"]
# A pointer has 32 bits there, so sizes of 64 are narrowed where tables are addressed.
COMPILE = ["-std=c++20", "-O2", "-fexceptions", "-Wno-c++11-narrowing"]
LINK = ["-O1", "-fexceptions", "--no-entry", "-sSINGLE_FILE=1", "-sMODULARIZE=1", "-sEXPORT_NAME=tamisDemo", "-sENVIRONMENT=web",
        "-sALLOW_MEMORY_GROWTH=1", "-sEXPORTED_RUNTIME_METHODS=HEAPF64"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"site: the demo does not compile\n{' '.join(map(str, command))}\n{done.stderr[:4000]}")


def state_of(root):
    """Of everything that the demo is made of."""
    sum_of = hashlib.sha256(repr([SOURCES, COMPILE, LINK]).encode())
    for path in sorted([*(root / "include").rglob("*.hpp"), *(root / "src").rglob("*"), HERE / "demo.cpp"]):
        if path.is_file():
            sum_of.update(path.read_bytes())
    return sum_of.hexdigest()


def script(root, kept):
    """demo.js, a single file with the WebAssembly in it; None without Emscripten."""
    if shutil.which("em++") is None:
        return None
    made, mark = kept / "demo.js", kept / "state"
    state = state_of(root)
    if made.exists() and mark.exists() and mark.read_text() == state:
        return made
    kept.mkdir(parents=True, exist_ok=True)
    files = [root / "src" / (name + ".cpp") for name in SOURCES] + [HERE / "demo.cpp"]
    objects = [kept / (path.stem + ".o") for path in files]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: run(["em++", *COMPILE, f"-I{root / 'include'}", f"-I{root}", "-c", pair[0], "-o", pair[1]]),
                      zip(files, objects)))
    run(["em++", *LINK, *objects, "-o", made])
    mark.write_text(state)
    return made
