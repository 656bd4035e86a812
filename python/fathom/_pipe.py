"""Pipes, terminals and the like, by their paths."""

from __future__ import annotations

import os
import stat


class _Pipe:
    """Read by the thread that called, which Ctrl-C interrupts also while it waits."""

    def __init__(self, path):
        self.name, self._file = os.fspath(path), None

    def read(self, size: int) -> bytes:
        if self._file is None:
            is_standard = self.name == "-"
            self._file = open(0 if is_standard else self.name, "rb", closefd=not is_standard)
        return self._file.read(size)


def is_path(data) -> bool:
    """Whether it is opened by its name: some paths have a method ``read``, and some open files a path, but those can say
    whether they are readable."""
    return isinstance(data, str) or isinstance(data, os.PathLike) and not (hasattr(data, "read") and hasattr(data, "readable"))


def readable(data):
    """The input; of a path to what is no regular file an object with a method ``read``."""
    return _Pipe(data) if is_path(data) and is_pipe(0 if os.fspath(data) == "-" else data) else data


def is_pipe(path) -> bool:
    """Whether what is there can be read only once: no regular file and no folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # The engine says it better.
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
