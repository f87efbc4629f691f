"""Approximate-membership filters that learn and grow: sets that answer "certainly not" or "perhaps"."""

from tamis._tamis import (Corrupt, Error, Filter, Full, Remote, Strings, Unsupported, WrongHash, __version__, cpu_level, kinds)

__all__ = ["Corrupt", "Error", "Filter", "Full", "Remote", "Strings", "Unsupported", "WrongHash", "__version__", "cpu_level", "kinds"]
