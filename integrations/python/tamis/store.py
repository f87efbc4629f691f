"""tamis.Store: a dictionary on disk behind a filter. What needs the library is in tamis._guard."""

from tamis import _guard

_ENTRIES = 256  # read at a time while iterating
_MISSING = object()


class Store(_guard.Store):
    """Store(directory=None, kind='evergreen', capacity=1_000_000, *, fpr=0.01, sync=False, ordered=False, secret=None, **options)

    Keys are str or bytes, values bytes. Without a directory it is in memory. sync=True: writes survive a power cut. ordered=True, of a
    new store: it can be iterated. All methods may be called from several threads at once."""

    __slots__ = ()

    def update(self, puts=(), /):
        """Puts a mapping or pairs, all or none of them."""
        self.write(puts)

    def pop(self, key, default=_MISSING, /):
        """Removes a key and answers its value. Two threads that pop one key may both get it."""
        value = self.get(key)
        if value is None or not self.discard(key):
            if default is _MISSING:
                raise KeyError(key)
            return default
        return value

    def items(self, start=b""):
        """Pairs in the order of the keys' bytes, from `start` on. What is written meanwhile may be seen or not."""
        return self._entries(self._scan(start, _ENTRIES))

    def _entries(self, entries):
        while entries:
            yield from entries
            last, _ = entries[-1]
            # What follows `last` in this order is `last` with a zero behind it.
            entries = self._scan(last + b"\0", _ENTRIES) if len(entries) == _ENTRIES else []

    def keys(self, start=b""):
        """Keys in order, from `start` on."""
        return (key for key, _ in self.items(start))

    def values(self, start=b""):
        """Values in the order of their keys, from the key `start` on."""
        return (value for _, value in self.items(start))

    def __iter__(self):
        return self.keys()

    def __repr__(self):
        return f"<tamis.Store, {'closed' if self.closed else 'open'}>"
