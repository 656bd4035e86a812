"""The file of refused records, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile

from fathom._pipe import is_path


def _is_same(data, there: os.stat_result) -> bool:
    """Whether an input is this file, by whatever name."""
    try:
        return os.path.samestat(os.stat(data.fileno() if hasattr(data, "fileno") else data), there)
    except (OSError, TypeError, ValueError):
        return False  # Bytes of memory, or what the engine says better.


def _descriptor(path):
    """The descriptor of this process that a path leads to (``/dev/stdout``), None of any other path."""
    own, path = os.path.realpath("/proc/self"), os.path.abspath(path)
    for _ in range(40):  # As many links as Linux follows.
        folder, name = os.path.realpath(os.path.dirname(path)), os.path.basename(path)
        if folder.startswith(own + "/") and os.path.basename(folder) == "fd":
            return int(name) if name.isdigit() else None
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


@contextlib.contextmanager
def _copied(descriptor):
    """Where to write what is appended to a file that is open, whose name would be given to another."""
    with tempfile.NamedTemporaryFile(prefix="fathom-") as file:
        yield file.name
        with open(os.dup(descriptor), "wb") as there:
            shutil.copyfileobj(file, there)


@contextlib.contextmanager
def kept(path, inputs):
    """Where to write them: beside the path, which is replaced in the end, or to what is there and is open or no file."""
    path = os.fsdecode(path)
    descriptor = _descriptor(path)
    if descriptor is not None:
        with _copied(descriptor) as target:
            yield target
        return
    target = os.path.realpath(path)
    there = os.stat(target) if os.path.exists(target) else None
    if there is not None and not stat.S_ISREG(there.st_mode):
        yield target
        return
    for data in inputs if there is not None else ():
        if not isinstance(data, bytes) and _is_same(data, there):
            name = data if is_path(data) else getattr(data, "name", "<stream>")
            raise ValueError(f"rejects= would replace the input {name}")
    pending = os.path.join(os.path.dirname(target), f".fathom-{os.urandom(6).hex()}.part")
    try:
        open(pending, "xb").close()
    except OSError as said:
        raise OSError(said.errno, said.strerror, path) from None
    try:
        if there is not None:
            os.chmod(pending, stat.S_IMODE(there.st_mode))
        yield pending
        os.replace(pending, target)
    except BaseException as said:
        os.unlink(pending)
        if isinstance(said, OSError) and said.filename == pending:
            said.filename = path
        raise
