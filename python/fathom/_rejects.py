"""The file of refused records, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat


def _is_same(data, there: os.stat_result) -> bool:
    """Whether an input is this file, by whatever name."""
    try:
        return os.path.samestat(os.stat(data.fileno() if hasattr(data, "fileno") else data), there)
    except (OSError, TypeError, ValueError):
        return False  # Bytes of memory, or what the engine says better.


@contextlib.contextmanager
def kept(path, inputs):
    """Where to write them: beside the path, which is replaced in the end, or to what is there and is no regular file."""
    target = os.path.realpath(path)
    there = os.stat(target) if os.path.exists(target) else None
    if there is not None and not stat.S_ISREG(there.st_mode):
        yield target
        return
    for data in inputs if there is not None else ():
        if not isinstance(data, bytes) and _is_same(data, there):
            name = data if isinstance(data, (str, os.PathLike)) else getattr(data, "name", "<stream>")
            raise ValueError(f"rejects= would replace the input {name}")
    pending = os.path.join(os.path.dirname(target), f".fathom-{os.urandom(6).hex()}.part")
    try:
        open(pending, "xb").close()
    except OSError as said:
        raise OSError(said.errno, said.strerror, os.fspath(path)) from None
    try:
        if there is not None:
            os.chmod(pending, stat.S_IMODE(there.st_mode))
        yield pending
        os.replace(pending, target)
    except BaseException:
        os.unlink(pending)
        raise
