"""Builds the wheel, as PEP 517 wants it: `python3 -m build --wheel --no-isolation integrations/python`. CMake compiles the library into the
module; what is left is to pack a few files. `-C build-dir=DIR` takes a folder that CMake has configured, or that it is to configure."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
# The limited API of 3.11: one binary for this and all later versions.
TAG = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = pathlib.Path((config_settings or {}).get("build-dir", ROOT / "build" / "wheel")).resolve()
    if not (build / "build.ninja").exists():
        run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTAMIS_TOOLS=OFF", "-DTAMIS_ROCKSDB=OFF",
            "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=6")
    run("cmake", "--build", build, "--target", "tamis_python_wheel")
    metadata = (build / "python" / "METADATA").read_text()
    version = next(line.split(": ")[1] for line in metadata.splitlines() if line.startswith("Version: "))
    name = f"tamis-{version}-{TAG}.whl"
    write(pathlib.Path(wheel_directory) / name, f"tamis-{version}.dist-info", metadata, build)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("the module is built from the whole of tamis; take its source tree instead of an sdist")


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def write(path, info, metadata, build):
    files = {f"tamis/{name}": (HERE / "tamis" / name).read_bytes() for name in ("__init__.py", "__init__.pyi", "py.typed")}
    files["tamis/_tamis.abi3.so"] = stripped(build / "python-wheel" / "tamis" / "_tamis.abi3.so")
    files[f"{info}/METADATA"] = metadata.encode() + b"\n" + (ROOT / "docs" / "python.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tamis\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    # xxHash is inside, and its licence wants its notice to come along.
    for name in ("LICENSE", "THIRD_PARTY.md"):
        files[f"{info}/{name}"] = (ROOT / name).read_bytes()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of no particular time: equal content is an equal wheel
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


def stripped(library):
    copy = library.with_suffix(".stripped")
    run(os.environ.get("STRIP", "strip"), "--strip-unneeded", "-o", copy, library)
    return copy.read_bytes()


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
