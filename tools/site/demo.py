"""The demo of the first page: the library compiled to WebAssembly, if Emscripten is there. The result is kept until a source changes."""

import hashlib
import pathlib
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent / "demo"
# What the demo needs of the compiled library and of the laboratory.
SOURCES = [f"src/{name}.cpp" for name in (
    "any_filter", "cpu", "hasher", "key_batch", "memory", "params", "result", "stream", "detail/any/known_mistakes", "detail/any/saved",
    "detail/base/zeroed_array", "detail/hash/siphash", "detail/io/archive", "detail/io/block_sums", "detail/io/checksum", "detail/io/file",
    "detail/io/frame", "detail/math/binomial", "detail/math/bloom", "detail/math/cuckoo", "detail/math/growth", "detail/math/quotient",
    "detail/mistakes/process_salt", "detail/telescoping/code/quarter_code")]
SOURCES += [f"lab/{name}.cpp" for name in ("advise/advise", "advise/query_sample", "advise/trial", "contenders")]
SOURCES += ["tools/site/demo/demo.cpp", "tools/site/demo/advice.cpp"]
FILTERS = ["bloom1", "ascf", "cqf", "taf", "infini", "evergreen", "evergreen_fixed"]  # that are advised
# A pointer has 32 bits there, so sizes of 64 are narrowed where tables are addressed.
COMPILE = ["-std=c++20", "-O2", "-fexceptions", "-Wno-c++11-narrowing", "-fconstexpr-steps=50000000", "-include", str(HERE / "libcxx.hpp")]
LINK = ["-O1", "-fexceptions", "--no-entry", "-sSINGLE_FILE=1", "-sMODULARIZE=1", "-sEXPORT_NAME=tamisDemo", "-sENVIRONMENT=web",
        "-sALLOW_MEMORY_GROWTH=1", "-sEXPORTED_RUNTIME_METHODS=HEAPF64,UTF8ToString"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"site: the demo does not compile\n{' '.join(map(str, command))}\n{done.stderr[:4000]}")


def state_of(root):
    """Of everything that the demo is made of."""
    sum_of = hashlib.sha256(repr([SOURCES, FILTERS, COMPILE, LINK]).encode())
    for path in sorted([*(root / "include").rglob("*.hpp"), *(root / "src").rglob("*"), *(root / "lab" / "advise").rglob("*"),
                        *(root / "lab").glob("*.hpp"), *HERE.glob("*.?pp")]):
        if path.is_file():
            sum_of.update(path.read_bytes())
    return sum_of.hexdigest()


def chosen(root, kept):
    """The sources of a registry with FILTERS only, as CMake makes the whole one."""
    lines = re.findall(r"^TAMIS_(?:FILTER|WIDE)\((\w+), (\w+)\)$", (root / "src" / "filters.def").read_text(), re.MULTILINE)
    here = [(name, header) for name, header in lines if name in FILTERS]
    (kept / "filters.def").write_text("".join(f"TAMIS_FILTER({name}, {header})\n" for name, header in here))
    shutil.copyfile(root / "src" / "registry.cpp", kept / "registry.cpp")  # which reads the list beside it
    shutil.copyfile("/usr/include/xxhash.h", kept / "xxhash.h")
    made = [kept / "registry.cpp"]
    for name, header in here:
        model = (root / "src" / "model.cpp.in").read_text()
        for mark, value in {"header": header, "level": "portable", "filter": name}.items():
            model = model.replace(f"@{mark}@", value)
        made.append(kept / f"model_{name}.cpp")
        made[-1].write_text(model)
    return made


def script(root, kept):
    """demo.js, a single file with the WebAssembly in it; None without Emscripten."""
    if shutil.which("em++") is None:
        return None
    made, mark = kept / "demo.js", kept / "state"
    state = state_of(root)
    if made.exists() and mark.exists() and mark.read_text() == state:
        return made
    kept.mkdir(parents=True, exist_ok=True)
    files = [root / name for name in SOURCES] + chosen(root, kept)
    objects = [kept / f"{number}.o" for number in range(len(files))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: run(["em++", *COMPILE, f"-I{root / 'include'}", f"-I{root}", f"-I{kept}", "-c", pair[0], "-o", pair[1]]),
                      zip(files, objects)))
    run(["em++", *LINK, *objects, "-o", made])
    mark.write_text(state)
    return made
