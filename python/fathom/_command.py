"""The command ``fathom`` that comes with the module, and its answers as values."""

from __future__ import annotations

import json
import operator
import os
import signal
import subprocess
import tempfile

from fathom._result import Keys, Run


class CommandFailed(RuntimeError):
    """The command ended with an error; code is its exit code, the message what it said."""

    def __init__(self, message: str, code: int):
        super().__init__(message, code)
        self.code = code

    def __str__(self):
        return self.args[0]


def program() -> str:
    """The path of the command: what FATHOM_PROGRAM names, otherwise the one of this installation."""
    named = os.environ.get("FATHOM_PROGRAM")
    if named:
        return named
    from importlib import metadata

    try:
        files = metadata.files("fathom-workbench") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("fathom", "fathom.exe") and file.parent.name in ("bin", "Scripts"):
            return str(file.locate().resolve())
    raise FileNotFoundError(
        "this installation of fathom-workbench brings no command; FATHOM_PROGRAM may name one"
    )


def call(arguments, *, input: bytes | None = None, accepted=(0, 1), without=()) -> bytes:
    """What the command prints, without some variables of the environment; Ctrl-C reaches it, too, and ends both."""
    process = subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name not in without},
    )
    try:
        printed, said = process.communicate(input)
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    if process.returncode not in accepted:
        message = said.decode(errors="replace").strip().removeprefix("fathom: ")
        raise CommandFailed(message or f"exit code {process.returncode}", process.returncode)
    return printed


# Options that are given anew for each value, and those behind which stand several words.
_REPEATED = "axis cleanup command_name conclude library output prepare set setup strategy with worker".split()
_WORDS = "join parameter parameter_list parameter_scan".split()


def _options(keywords: dict) -> list[str]:
    """``same_output=True`` is ``--same-output``, ``names=["a", "b"]`` ``--names=a,b``, ``prepare=["x", "y"]`` ``--prepare=x
    --prepare=y`` and ``parameter_list={"n": [1, 2]}`` ``--parameter-list n 1,2``."""
    options = []
    for name, value in keywords.items():
        name = name.rstrip("_")
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            options.append(option)
        elif name in _WORDS:
            several = list(value.items()) if isinstance(value, dict) else value
            for words in several if isinstance(several[0], (list, tuple)) else [several]:
                options += [option, *map(_word, words)]
        else:
            is_repeated = name in _REPEATED and isinstance(value, (list, tuple))
            options += [f"{option}={_word(one)}" for one in (value if is_repeated else [value])]
    return options


def _word(value) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def run(commands, *, budget: str | None = None, **options) -> Run:
    """Compares whole commands: the first is the baseline, and they run in turns, round by round.

    commands are shell commands. Options are those of ``fathom run``, with ``_`` for ``-``, and a list for
    several values: ``run(["cmd a", "cmd b"], names=["a", "b"], prepare=["sync", "true"], same_output=True)``,
    ``run("cmd {n}", parameter_list={"n": [1, 2]})``.
    """
    lines = [commands] if isinstance(commands, str) else list(commands)
    options = _options(dict(budget=budget, **options))
    return Run(json.loads(call(["run", "--format", "json", *options, "--", *lines])))


def bench(family: str, *cases, budget: str | None = None, **options) -> Run:
    """Compares the contenders of a family; options are those of ``fathom bench``
    (``with_=["name=command"]`` for ``--with``)."""
    options = _options(dict(budget=budget, **options))
    return Run(json.loads(call(["bench", family, *cases, "--format", "json", *options])))


def cpu(*families: str, only=None, budget: str | None = None, **options) -> Run:
    """Which implementation of each primitive is fastest here; options are those of ``fathom cpu``."""
    options = _options(dict(only=only, budget=budget, **options))
    return Run(json.loads(call(["cpu", *families, "--format", "json", *options])))


def _key(at: int, key) -> bytes:
    """A key as a line: integers in decimal."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    if not isinstance(key, bool) and hasattr(key, "__index__"):
        return str(operator.index(key)).encode()
    raise TypeError(f"key {at}: {key!r} is no text, bytes or integer: make it one of these before")


def _key_bytes(keys) -> bytes:
    """A line for each key."""
    if isinstance(keys, (bytes, bytearray, memoryview)) or not hasattr(keys, "__iter__"):
        kinds = "a path, or a list or a column of texts, bytes or integers"
        raise TypeError(f"keys are {kinds}, not {type(keys).__name__}")
    if hasattr(keys, "to_pylist"):
        keys = keys.to_pylist()
    elif hasattr(keys, "to_list"):
        keys = keys.to_list()
    lines = [_key(at, key) for at, key in enumerate(keys)]
    for at, line in enumerate(lines):
        if not line or b"\n" in line or b"\r" in line:
            raise ValueError(f"key {at}: {line!r} is no line of text: write the keys to a file")
    return b"".join(line + b"\n" for line in lines)


def kv(keys, *, budget: str | None = None, **options) -> Keys:
    """Which structure, hash and allocator is best for these keys.

    keys are the path of a file, or a list or a column of texts, bytes or integers. Options are
    those of ``fathom kv``: ``kv("keys.txt", structure=["hashbrown", "indexmap"], from_="json")``.
    """
    if isinstance(keys, (str, os.PathLike)):
        return _kv(os.fspath(keys), budget, options)
    with tempfile.NamedTemporaryFile(prefix="fathom-keys-", suffix=".txt") as file:
        file.write(_key_bytes(keys))
        file.flush()
        return _kv(file.name, budget, {"from_": "lines", **options})


def _kv(path: str, budget, options) -> Keys:
    options = _options(dict(budget=budget, **options))
    return Keys(json.loads(call(["kv", "--format", "json", *options, "--", path])))
