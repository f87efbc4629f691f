"""Approximate-membership filters that learn and grow: sets that answer "certainly not" or "perhaps"."""

from tamis._tamis import (Corrupt, Error, Filter, Full, Remote, Strings, Unsupported, WrongHash, __version__, checksums, checksums_of_file,
                          cpu_level, diff, diff_files, kinds, patch, patch_file)

__all__ = ["Corrupt", "Error", "Filter", "Full", "Remote", "Store", "Strings", "Unsupported", "WrongHash", "__version__", "checksums",
           "checksums_of_file", "cpu_level", "diff", "diff_files", "kinds", "patch", "patch_file"]


def __getattr__(name):
    """Store needs RocksDB, which is loaded when it is first used."""
    if name == "Store":
        try:
            from tamis.store import Store
        except ModuleNotFoundError as missing:
            if missing.name not in ("tamis.store", "tamis._guard"):
                raise
            raise AttributeError("tamis.Store: this tamis was built without RocksDB") from None
        globals()["Store"] = Store
        return Store
    raise AttributeError(f"module 'tamis' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
