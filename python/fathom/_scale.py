"""Plans, states and merges: what the drivers of all engines share.

A task is bytes of some files; its state is bytes that say what is in them, exactly, and which they are.
States merge in any order, and what is merged twice, missing or changed meanwhile is an error; so a task
may be run again, anywhere, as often as an engine likes.
"""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import os
import re
import shlex
import traceback

from fathom import _command, _native
from fathom._aggregate import asked, truth, whole
from fathom._error import DataError
from fathom._pipe import is_path, is_pipe
from fathom._table import Table

#: Bytes of a task, at most.
TASK_BYTES = 256 << 20

#: States that are merged at a time.
WIDTH = 32

#: A state of as many keys is split into partitions of them, each of which is merged by a task of its own.
MANY_KEYS = 1_000_000

#: Keys of a state that are in a partition of it, about, and how many partitions there are at most.
PARTITION_KEYS, MOST_PARTITIONS = 1 << 17, 64


class Piece:
    """Bytes of a file, and what it was when they were planned; read by the native half."""

    def __init__(self, path, number, of, size, identity, start, end):
        self.path, self.number, self.of = path, number, of
        self.size, self.identity, self.start, self.end = size, identity, start, end


def plan(urls, task_bytes: int, records: bool, options: dict):
    """The tasks of an input, or of each of two with ``compare=``, and what is asked of them all."""
    if options.get("rejects") is not None or options.get("progress") is not None:
        raise ValueError("rejects= and progress= are of one machine: leave them out")
    if task_bytes is None:
        raise TypeError("task_bytes is a whole number, not None")
    whole("task_bytes", task_bytes, 1)
    truth("records", records)
    options.setdefault("threads", 1)
    inputs, query = asked(urls, **options)
    for data in inputs:
        if not is_path(data):
            raise TypeError(f"paths are read by many processes, and {type(data).__name__} is none")
        if is_pipe(data):
            # Whoever writes into one that is opened would lose it.
            raise ValueError(f"{os.fsdecode(data)} is no regular file and cannot be cut: name one")
    # Of nothing: a question that is none is refused before anything is opened.
    _native.aggregate([b""] * (1 + query.compare), query, None)
    if any("://" in str(data) for data in inputs):
        query.guessed, tasks_of = {}, _tasks_of_objects
    else:
        inputs = [os.path.abspath(os.fspath(path)) for path in inputs]
        settled, query.guessed = _settled(inputs, query)
        query.__dict__.update(settled)
        tasks_of = _tasks_of_files
    # Where no quotes enclose line breaks a cut may fall anywhere.
    records = records and not query.plain and query.format_in in (None, "delimited") and query.quotes is not False
    sides = [[one] for one in inputs] if query.compare else [inputs]
    return [tasks_of(side, task_bytes, records, query) for side in sides], query


def _settled(paths: list, query):
    """How these texts are written."""
    try:
        return _native.settle(paths, query)
    except DataError as error:
        if "fathom.aggregate reads it" not in str(error):
            raise
        raise DataError(f"{error} (the tasks of a cluster read text alone)", error.path) from None


def _tasks_of_files(paths: list, task_bytes: int, records: bool, query) -> list:
    """Each a list of pieces."""
    if len(set(paths)) < len(paths):
        raise ValueError("a path is there twice")
    objects = [_native.object(path) for path in paths]
    sizes = [(size, can_be_cut and not records) for size, _, can_be_cut in objects]
    tasks = _native.plan(sizes, task_bytes)
    if records:
        tasks = [part for task in tasks for part in _between_records(task, paths, objects, query, task_bytes)]
    return [
        [Piece(paths[at], at, len(paths), *objects[at][:2], start, end) for at, start, end in task]
        for task in tasks
    ]


def _between_records(task, paths, objects, query, task_bytes):
    """A task that is one large file, cut where records start; any other as it is."""
    (at, start, end), *more = task
    _, _, can_be_cut = objects[at]
    if more or not can_be_cut:
        return [task]
    ends = [*_native.cuts(paths[at], query.delimiter, task_bytes), end]
    return [[(at, start, end)] for start, end in zip([start, *ends], ends)]


def _tasks_of_objects(inputs: list, task_bytes: int, records: bool, query) -> list:
    """Each a list of words of the command, which reads objects of stores where the module does not."""
    urls = [str(data) if "://" in str(data) else os.path.abspath(data) for data in inputs]
    words = ["--bytes", str(task_bytes), *(["--records"] if records else [])]
    if records and query.delimiter is not None:
        words += ["--delimiter", chr(query.delimiter)]
    # Names of any bytes, which may be line ends of Unicode, but no line feeds; behind the last one stands nothing.
    *lines, _ = os.fsdecode(_command.call(["plan", *words, "--", *urls], accepted=(0,))).split("\n")
    words = _words(query)
    return [[*words, *shlex.split(line)] for line in lines]


def _words(query) -> list[str]:
    """A query as options of the command."""
    words = ["--stats", ",".join(_native.kept(query))]
    for option, value in (
        ("--threads", query.threads),
        ("--chunk", query.chunk_bytes and query.chunk_bytes / (1 << 20)),
        ("--memory-limit", query.memory_limit),
        ("--approx", query.approx),
        ("--on-error", "skip" if query.skip else None),
    ):
        words += [] if value is None else [f"{option}={value}"]
    if query.plain:
        return words
    if query.delimiter is not None:
        words.append(f"--delimiter={chr(query.delimiter)}")
    for option, flag in (("--header", query.header), ("--quotes", query.quotes), ("--decimal-comma", query.decimal_comma)):
        words += [] if flag is None else [f"{option}={'yes' if flag else 'no'}"]
    words += [f"--format-in={query.format_in}"] if query.format_in else []
    parts = [_native.part(column) for column in query.by]
    words += [f"--by={_one(column)}{f':{width}' if width else ''}" for column, width in parts]
    for flag, is_said in (("--trim", query.trim), ("--ignore-case", query.ignore_case), ("--ragged=pad", query.pad)):
        words += [flag] if is_said else []
    words += [f"--where={query.filter}"] if query.filter is not None else []
    if query.null_values:
        words.append("--null-values=" + ",".join(_one(text.decode()) for text in query.null_values))
    if not query.values:
        return [*words[2:], "--count"]
    for column, null, is_text in query.values:
        is_formula = not is_text and _native.is_formula(column)
        words.append(f"--{'text' if is_text else 'value'}={column if is_formula else _one(column)}")
        words += [] if null == "skip" else [f"--null={_one(column)}={null}"]
    return words


def _one(column) -> str:
    """A column as the command takes one of several: a name stands in quotes, whatever is in it."""
    return str(column) if isinstance(column, int) else '"' + column.replace('"', '""') + '"'


def partial(task, query) -> bytes:
    """The state of a task."""
    if isinstance(task[0], str):
        # Dask has its workers give memory back at once, which doubles what reading an object takes of the system.
        words, without = ["aggregate", "--partial", *task], ("MALLOC_TRIM_THRESHOLD_",)
        try:
            return _command.call(words, without=without)
        except _command.CommandFailed as failed:
            if failed.code != _BAD_DATA:
                raise
            raise _data_error(str(failed), task[task.index("--") + 1 :] if "--" in task else []) from None
    return _native.partial(task, query)


#: The exit code of the command for data that are not what they should be.
_BAD_DATA = 3


#: How it says that tables are full, which it ends with the same code.
_FULL = ("the memory limit is reached", "one thread met more than")


def _data_error(said: str, names: list[str]) -> Exception:
    """What the command said in the end of these inputs, as the module says it: lines before are hints for who calls the
    command."""
    message = said.split("\n")[-1].removeprefix("fathom: ")
    if message.startswith(_FULL):
        return MemoryError(message)
    # A name may have a place in it, or begin as another one.
    known = [re.escape(name) for name in sorted(names, key=len, reverse=True)]
    place = re.match(rf"({'|'.join([*known, '.*?'])}):(\d+):(\d+): ", message)
    if place is None:
        return DataError(message)
    path, line, column = place.groups()
    return DataError(message, path, int(line), int(column))


def merge(*states) -> bytes:
    """Several states as one."""
    return _native.merge(list(states))


def keys(state) -> int:
    """How many keys a state has."""
    return _native.keys(state)


def split(state, of: int) -> list[bytes]:
    """A state as ``of`` states, each with the keys of a partition."""
    return _native.split(state, of)


def partitions(most_keys: int) -> int:
    """Into how many partitions states are split of which the largest has so many keys: 1 for none."""
    if most_keys < MANY_KEYS:
        return 1
    return min(-(-most_keys // PARTITION_KEYS), MOST_PARTITIONS)


def finish(sides: list, query) -> Table:
    """The result, if the states of each side have all of its input."""
    return Table(_native.finish(sides, query), query.guessed)


def answer(states_of, urls, task_bytes: int, records: bool, options: dict) -> Table:
    """The result of what ``states_of(tasks, query)`` finds."""
    sides, query = plan(urls, task_bytes, records, options)
    return finish([states_of(tasks, query) for tasks in sides], query)


def groups(items: list, width: int = WIDTH) -> list[list]:
    """Lists of up to ``width`` items each."""
    return [items[at : at + width] for at in range(0, len(items), width)]


class TimedOut(RuntimeError):
    """A task did not end, or what it found did not come, in its time, as often as it was tried."""


def run(engine, urls, *, task_bytes, records, timeout, retries, options) -> Table:
    """Plans, reads and merges on an engine that can ``submit`` functions and ``wait`` for some of them.

    States are merged in a tree, or, where there are many keys, partition by partition of these.

    If no task ends within ``timeout`` seconds, those that are left are started again beside the first, up
    to ``retries`` times; whichever ends first counts.
    """
    _check_patience(timeout, retries)
    try:
        return answer(functools.partial(_states, engine, timeout, retries), urls, task_bytes, records, options)
    except BaseException as error:
        # Dask keeps the error of a task as long as its client, and with it what these frames have: all states.
        traceback.clear_frames(error.__traceback__)
        raise


def _check_patience(timeout, retries) -> None:
    """Refuses what an engine would choke on, some of them for good."""
    if retries is None:
        raise TypeError("retries is a whole number, not None")
    whole("retries", retries, 0)
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, numbers.Real):
        raise TypeError(f"timeout is seconds or None, not {timeout!r}")
    if not 0 < timeout < math.inf:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout}")


def _states(engine, timeout, retries, tasks, query) -> list[bytes]:
    """What is known of all tasks: one state, or partitions of it."""
    states = _all(engine, [(partial, task, query) for task in tasks], timeout, retries)
    if len(states) > 1:
        # A few tell of all.
        some = states[:: max(1, len(states) // 4)]
        counted = _all(engine, [(keys, state) for state in some], timeout, retries)
        of = partitions(max(_fetched(engine, counted, timeout, retries)))
        if of > 1:
            calls = [(split, state, of) for state in states]
            split_states = [engine.parts(whole, of) for whole in _all(engine, calls, timeout, retries)]
            states = _all(engine, [(merge, *parts) for parts in zip(*split_states)], timeout, retries)
            return _fetched(engine, states, timeout, retries)
    while len(states) > 1:
        states = _all(engine, [(merge, *group) for group in groups(states)], timeout, retries)
    return _fetched(engine, states, timeout, retries)


def _fetched(engine, held, timeout, retries) -> list:
    """What the engine holds, which is asked for again where it does not come within ``timeout`` seconds."""
    for _ in range(retries + 1):
        found = engine.results(held, timeout)
        if found is not None:
            return found
        engine.late(timeout)
    raise TimedOut(f"what tasks found does not come: not in {timeout} s, {retries + 1} times")


def _all(engine, calls, timeout, retries) -> list:
    """The results of all calls, as the engine holds them."""
    ended = [None] * len(calls)
    running = {}
    tries = [1] * len(calls)
    try:
        for at, call in enumerate(calls):
            running[engine.submit(*call)] = at
        while running:
            some = engine.wait(list(running), timeout)
            for future in some:
                at = running.pop(future)
                # What becomes of a second copy is no matter where the first has ended.
                if ended[at] is None:
                    ended[at] = engine.held(future)
            late = sorted({at for at in running.values() if ended[at] is None})
            if not late:
                break
            if not some:
                engine.late(timeout)
                for at in late:
                    if tries[at] > retries:
                        raise TimedOut(f"{len(late)} tasks hang: none ended in {timeout} s, {tries[at]} times")
                    tries[at] += 1
                    running[engine.submit(*calls[at])] = at
    finally:
        # Whoever lost the cluster can cancel nothing, and is to hear of the loss.
        for future in running:
            with contextlib.suppress(Exception):
                engine.cancel(future)
    return ended
