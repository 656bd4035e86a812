"""The command ``fathom`` that comes with the module, and its answers as values."""

from __future__ import annotations

import contextlib
import json
import numbers
import operator
import os
import re
import signal
import stat
import subprocess
from collections.abc import Mapping

from fathom._aggregate import is_whole
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


@contextlib.contextmanager
def in_memory(data: bytes):
    """The path of a file in memory, which is gone with this process however that ends."""
    with open(os.memfd_create("fathom"), "wb") as file:
        file.write(data)
        file.flush()
        yield f"/proc/{os.getpid()}/fd/{file.fileno()}"


def call(arguments, *, input: bytes | None = None, accepted=(0, 1), without=()) -> bytes:
    """What the command prints, without some variables of the environment; Ctrl-C reaches it, too, and ends both. However
    this process ends, the command ends with it: it asks for that where the variable has the number of its parent."""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    process = subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, "FATHOM_PARENT": str(os.getpid())},
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


#: Characters that are shown of what is no JSON.
_SAID = 80


def found(asked: str, options: list[str], words: list[str], input: bytes | None = None) -> dict:
    """What the command answers in JSON."""
    printed = call([*asked.split(), "--format", "json", *options, "--", *words], input=input)
    try:
        return json.loads(printed)
    except json.JSONDecodeError:
        said = printed.decode(errors="replace").strip().partition("\n")[0][:_SAID]
        raise ValueError(f"{asked}: with these options the command answers no JSON, but {said!r}") from None


# Options that are given anew for each value, and those behind which stand several words.
_REPEATED = "axis cleanup command_name conclude library output prepare set setup strategy with worker".split()
_WORDS = "join parameter parameter_list parameter_scan".split()

# Those of them in whose lists a backslash makes a comma part of a value.
_ESCAPED = "parameter parameter_list".split()

# Options with which the command prints no JSON, prints it elsewhere, or prints the same. (The output of `run` is that of
# commands.)
_SHOWING = "brief columns explain format help open output report show_output sort style time_unit wide".split()

# What would be printed beside the JSON.
_PRINTED = re.compile(r"--output=inherit|--(save|export-\w+)=-")


def _refuse(asked: str, option: str) -> None:
    """What is returned is there instead."""
    if option == "help=":
        raise TypeError(f"help= is of the command alone: `fathom {asked} --help` prints it")
    run = "the run" if asked != "kv" else "its .run"
    raise TypeError(f"{option} is of the command alone: what is returned has .json, {run} .report(format) and .save(path)")


def options_of(asked: str, keywords: dict) -> list[str]:
    """``same_output=True`` is ``--same-output``, ``names=["a", "b"]`` ``--names=a,b``, ``prepare=["x", "y"]`` ``--prepare=x
    --prepare=y`` and ``parameter_list={"n": [1, 2]}`` ``--parameter-list n 1,2``."""
    options = []
    for name, value in keywords.items():
        name = name.rstrip("_")
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if name in _SHOWING and (asked, name) != ("run", "output"):
            _refuse(asked, f"{name}=")
        if value is True:
            options.append(option)
        elif name in _WORDS:
            for words in _groups(name, value):
                options += [option, *(_word(name, word) for word in words)]
        else:
            is_repeated = name in _REPEATED and _is_several(value)
            options += [f"{option}={_word(name, one)}" for one in (value if is_repeated else [value])]
    for option in filter(_PRINTED.fullmatch, options):
        _refuse(asked, option)
    return options


def _groups(name: str, value) -> list[list]:
    """The words of an option that takes several, as often as it is given."""
    if isinstance(value, Mapping):
        return [list(pair) for pair in value.items()]
    if not _is_several(value):
        raise TypeError(f"{name}= takes a list of words or a dict, not {value!r}")
    several = list(value)
    if several and _is_several(several[0]):
        return [list(words) for words in several]
    return [several] if several else []


def _is_several(value) -> bool:
    """Whether it is a list of values, or whatever else gives one after the other."""
    is_one = isinstance(value, (str, bytes, bytearray, os.PathLike, Mapping))
    return hasattr(value, "__iter__") and not is_one and getattr(value, "shape", None) != ()


def _word(name: str, value) -> str:
    """A value as the command takes it, several of them with commas."""
    if not _is_several(value):
        return _one(name, value)
    words = [_one(name, one) for one in value]
    if name in _ESCAPED:
        return ",".join(re.sub(r"[\\,]", r"\\\g<0>", word) for word in words)
    for word in words:
        if "," in word:
            hint = ": command_name= takes it" if name == "names" else ""
            raise ValueError(f"{name}=: {word!r} has a comma, which the command takes for the end of a value{hint}")
    return ",".join(words)


def _one(name: str, value) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    is_number = isinstance(value, numbers.Number) or hasattr(value, "__index__")
    if isinstance(value, bool) or not (isinstance(value, str) or is_number):
        raise TypeError(f"{name}= takes texts and numbers, or a list of these, not {value!r}")
    return str(value)


def run(commands, *, budget: str | None = None, **options) -> Run:
    """Compares whole commands: the first is the baseline, and they run in turns, round by round.

    commands are shell commands. Options are those of ``fathom run``, with ``_`` for ``-``, and a list for
    several values: ``run(["cmd a", "cmd b"], names=["a", "b"], prepare=["sync", "true"], same_output=True)``,
    ``run("cmd {n}", parameter_list={"n": [1, 2]})``.
    """
    if isinstance(commands, Mapping) or not hasattr(commands, "__iter__"):
        raise TypeError(f"commands are a text for the shell, or a list of these, not {commands!r}")
    lines = [commands] if isinstance(commands, (str, bytes, bytearray)) else list(commands)
    for line in lines:
        if not isinstance(line, str):
            raise TypeError(f"a command is a text for the shell, not {line!r}")
    if not lines:
        raise ValueError("there are no commands")
    return Run(found("run", options_of("run", dict(budget=budget, **options)), lines))


def bench(family: str, *cases, budget: str | None = None, **options) -> Run:
    """Compares the contenders of a family; options are those of ``fathom bench``
    (``with_=["name=command"]`` for ``--with``)."""
    words = [_one("family", word) for word in (family, *cases)]
    return Run(found("bench", options_of("bench", dict(budget=budget, **options)), words))


def cpu(*families: str, only=None, budget: str | None = None, **options) -> Run:
    """Which implementation of each primitive is fastest here; options are those of ``fathom cpu``."""
    words = [_one("families", word) for word in families]
    return Run(found("cpu", options_of("cpu", dict(only=only, budget=budget, **options)), words))


def _key(at: int, key) -> bytes | int:
    """A key as bytes, or the integer that it is."""
    if isinstance(key, str):
        try:
            return key.encode()
        except UnicodeEncodeError:
            raise ValueError(f"key {at}: {key!r} is no Unicode text: encode it before") from None
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    if is_whole(key):
        return operator.index(key)
    raise TypeError(f"key {at}: {key!r} is no text, bytes or integer: make it one of these before")


#: The byte order mark.
_MARK = b"\xef\xbb\xbf"

#: What integers a map of integers has.
_MOST_KEY = 2**64 - 1


def _key_bytes(keys, format: str | None = None) -> tuple[bytes, str]:
    """A line for each key, and the format of these lines if none is said."""
    if hasattr(type(keys), "columns"):
        raise TypeError(f"keys are one column, and {type(keys).__name__} has several: give one of them, such as table['name']")
    if isinstance(keys, (bytes, bytearray, memoryview)) or not hasattr(keys, "__iter__"):
        kinds = "a path, or a list or a column of texts, bytes or integers"
        raise TypeError(f"keys are {kinds}, not {type(keys).__name__}")
    if format in ("u32", "u64") or (format or "").startswith("bin-"):
        raise ValueError(f"from_={format!r} is how a file is written: with a list or a column leave it out")
    if hasattr(keys, "to_pylist"):
        keys = keys.to_pylist()
    elif hasattr(keys, "to_list"):
        keys = keys.to_list()
    found = [_key(at, key) for at, key in enumerate(keys)]
    if not found:
        raise ValueError("there are no keys")
    are_integers = isinstance(found[0], int)
    for at, key in enumerate(found):
        if isinstance(key, int) is not are_integers:
            one, other = ("an integer", "a text") if are_integers else ("a text", "an integer")
            raise TypeError(f"key {at} is {other}, and key 0 {one}: make them of one kind before")
        if are_integers and format != "lines" and not 0 <= key <= _MOST_KEY:
            raise ValueError(f"key {at}: {key} is no whole number from 0 to {_MOST_KEY}; from_='lines' takes the decimals for texts")
        if not are_integers and (not key or b"\n" in key or b"\r" in key):
            raise ValueError(f"key {at}: {key!r} is no line of text: write the keys to a file")
    lines = (b"%d\n" % key for key in found) if are_integers else (key + b"\n" for key in found)
    lines = b"".join(lines)
    if lines.startswith(_MARK):
        lines = _MARK + lines  # One is taken for the mark of a file.
    return lines, format or ("integers" if are_integers else "lines")


def kv(keys, *, budget: str | None = None, **options) -> Keys:
    """Which structure, hash and allocator is best for these keys.

    keys are the path of a file, or a list or a column of texts and bytes, or of integers from 0 to 2**64 - 1, which
    are measured as integers (``from_="lines"`` measures their decimals, of any size). Those of a dict are its keys,
    and a set gives its own in no order. Options are those of ``fathom kv``:
    ``kv("users.csv", from_="csv:email", structure=["hashbrown", "indexmap"])``.
    """
    if isinstance(keys, (str, os.PathLike)):
        if os.fspath(keys) == "-":
            raise ValueError("keys: kv reads no standard input; give it the keys, or the path of their file")
        try:
            return _kv(os.fspath(keys), options_of("kv", dict(budget=budget, **options)))
        except CommandFailed as failed:
            # What is not there, or cannot be read, is an error as everywhere.
            if failed.code == _NO_FILE and not stat.S_ISFIFO(os.stat(keys).st_mode):
                open(keys, "rb").close()
            raise
    options.setdefault("from_", options.pop("from", None))
    lines, options["from_"] = _key_bytes(keys, options["from_"])
    return _kv("-", options_of("kv", dict(budget=budget, **options)), _plain(lines))


def _plain(lines: bytes) -> bytes:
    """What the command reads as these lines: where it would take them for compressed, a member of gzip around them."""
    is_magic = lines.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) or lines[1:4] == b"\x2a\x4d\x18"
    if not is_magic:
        return lines
    import gzip

    return gzip.compress(lines, 0)


#: The exit code where a file cannot be read.
_NO_FILE = 4


def _kv(path: str, options: list[str], input: bytes | None = None) -> Keys:
    return Keys(found("kv", options, [path], input))
