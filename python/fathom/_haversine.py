"""``haversine``: the mean great-circle distance of the pairs in a JSON document."""

from __future__ import annotations

import os
from collections import namedtuple

from fathom import _native
from fathom._aggregate import MOST_THREADS, truth, whole
from fathom._pipe import readable

_FIELDS = {
    "mean": "The mean, rounded once.",
    "mean_in_order": "The distances added up in their order as doubles, as the course's answers are; None with ``exact_only``.",
    "pairs": "Pairs whose distance was computed.",
    "skipped": 'Elements that are no pairs; not zero only with ``on_error="skip"``.',
    "bytes": "Bytes of input, decompressed.",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Mean(NamedTuple):
        mean: float
        mean_in_order: float | None
        pairs: int
        skipped: int
        bytes: int
else:
    # Importing `typing` takes longer than all of this package.
    Mean = namedtuple("Mean", _FIELDS)
Mean.__doc__ = "What an input comes to; lengths are in the unit of the radius, by default kilometres."
for _name, _doc in _FIELDS.items():
    getattr(Mean, _name).__doc__ = _doc


def haversine(
    data, *, radius: float | None = None, threads: int | None = None, on_error: str = "fail", exact_only: bool = False
) -> Mean:
    """Mean great-circle distance of ``{"pairs": [{"x0": …, "y0": …, "x1": …, "y1": …}, …]}``.

    data is a path, bytes, or an object with a method ``read`` that returns bytes; gzip and
    Zstandard are recognised. Numbers and mean are rounded once, whatever the number of threads.
    What is no valid JSON or no pair raises `DataError`; with ``on_error="skip"`` elements that
    are no pairs are counted instead. With ``exact_only`` no distance is kept, and memory does not grow with the pairs.
    """
    if on_error not in ("fail", "skip"):
        raise ValueError(f"on_error is 'fail' or 'skip', not {on_error!r}")
    if isinstance(radius, bool):
        raise TypeError(f"radius is a number, not {radius!r}")
    whole("threads", threads, 1, MOST_THREADS)
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    if not hasattr(data, "read") and not isinstance(data, (bytes, str, os.PathLike)):
        raise TypeError(f"what is read is a path, bytes or something with read(), not {type(data).__name__}")
    in_order, mean, pairs, skipped, size = _native.haversine(
        readable(data), radius=radius, threads=threads, skip=on_error == "skip", exact_only=truth("exact_only", exact_only)
    )
    return Mean(mean, in_order, pairs, skipped, size)
