"""States from Python: any cut, any order, the command's bytes; what does not fit is an error."""

import asyncio
import functools
import io
import json
import math
import os
import random
import sys
import time
import types
import weakref

import pytest

import fathom
from fathom import _scale


def written(path, rows, seed=1):
    draw = random.Random(seed)
    lines = (f"place {draw.randrange(40)};{draw.randrange(-9999, 9999) / 10}\n" for _ in range(rows))
    path.write_text("".join(lines))
    return os.fspath(path)


class Here:
    """An engine that runs everything in this process, some of it twice, in any order."""

    def __init__(self, seed):
        self.draw, self.calls = random.Random(seed), 0

    def submit(self, function, *arguments):
        self.calls += 1
        return Done(function(*(a.value if isinstance(a, Done) else a for a in arguments)))

    def wait(self, futures, timeout):
        return self.draw.sample(futures, self.draw.randrange(1, len(futures) + 1))

    def held(self, future):
        return future

    def parts(self, whole, of):
        assert len(whole.value) == of
        return [Done(part) for part in whole.value]

    def results(self, futures, timeout):
        return [future.value for future in futures]

    def cancel(self, future):
        pass

    def late(self, seconds):
        assert seconds == 1


class Done:
    def __init__(self, value):
        self.value = value


def run(urls, engine, *, task_bytes=1000, records=False, timeout=None, **options):
    return _scale.run(
        engine, urls, task_bytes=task_bytes, records=records, timeout=timeout, retries=2, options=options
    )


STATS = ["min", "mean", "max", "count", "rows", "variance", "p99", "distinct", "mode", "first", "last"]


@pytest.mark.parametrize("task_bytes", [100, 1000, 10**6])
def test_tasks_of_any_size_give_the_result_of_one_process(tmp_path, command, task_bytes):
    paths = [written(tmp_path / name, rows) for name, rows in [("b", 300), ("a", 0), ("c", 5), ("d", 40)]]
    table = run(paths, Here(task_bytes), task_bytes=task_bytes, stats=STATS)
    expected = command("aggregate", "--format", "csv", "--stats", ",".join(STATS), *paths)
    assert table.format("csv") == expected


def test_many_keys_are_merged_by_partitions(tmp_path, command, monkeypatch):
    assert [_scale.partitions(keys) for keys in (0, 999_999, 1_000_000, 10**7, 10**9)] == [1, 1, 8, 64, 64]
    monkeypatch.setattr(_scale, "MANY_KEYS", 20)
    monkeypatch.setattr(_scale, "PARTITION_KEYS", 6)
    merged = []

    class Watched(Here):
        def submit(self, function, *arguments):
            merged.append(function.__name__)
            return super().submit(function, *arguments)

    paths = [written(tmp_path / name, rows) for name, rows in [("b", 300), ("a", 0), ("c", 5), ("d", 900)]]
    table = run(paths, Watched(1), stats=STATS)
    assert table.format("csv") == command("aggregate", "--format", "csv", "--stats", ",".join(STATS), *paths)
    assert merged.count("merge") in range(4, 8)
    assert merged.count("split") == merged.count("partial") > 7


def test_partitions_are_joined_only_if_all_are_there(tmp_path):
    path = written(tmp_path / "a", 100)
    [[task]], query = _scale.plan(path, 10**6, False, {})
    state = _scale.partial(task, query)
    parts = _scale.split(state, 3)
    assert sum(map(_scale.keys, parts)) == _scale.keys(state) > max(map(_scale.keys, parts))
    with pytest.raises(ValueError, match="partition 1/3 of the keys is in no state"):
        _scale.finish([[parts[0], parts[2]]], query)
    with pytest.raises(ValueError, match="two states"):
        _scale.finish([[*parts, parts[0]]], query)
    with pytest.raises(ValueError, match="different keys"):
        _scale.finish([[parts[0], state]], query)


def test_what_is_wrong_in_a_part_has_its_line_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("k,v\n" + "a,1\n" * 500 + "b,x\n")
    with pytest.raises(fathom.DataError) as caught:
        run(path, Here(1), task_bytes=100, by="k", values="v")
    assert (caught.value.line, caught.value.column) == (502, 3)
    assert str(caught.value).startswith(f"{path}:502:3: ")
    table = run(path, Here(1), task_bytes=100, by="k", values="v", on_error="skip")
    assert (table.rejected, table.rejects) == (1, [])


def test_what_is_wrong_in_an_object_has_its_place_in_it(tmp_path, monkeypatch):
    program = tmp_path / "fathom"
    program.write_text(
        "#!/bin/sh\necho 'fathom: if byte 22 lies inside quotes' >&2\n"
        "echo 'fathom: s3://b/a:c.csv:502:3: not a number: v x' >&2\nexit ${CODE:-3}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("FATHOM_PROGRAM", str(program))
    with pytest.raises(fathom.DataError) as caught:
        _scale.partial(["--range", "22..", "--", "s3://b/a:c.csv"], None)
    assert str(caught.value) == "s3://b/a:c.csv:502:3: not a number: v x"
    assert (caught.value.path, caught.value.line, caught.value.column) == ("s3://b/a:c.csv", 502, 3)
    monkeypatch.setenv("CODE", "4")
    with pytest.raises(fathom.CommandFailed, match="inside quotes"):
        _scale.partial(["--", "s3://b/a:c.csv"], None)


@pytest.mark.parametrize("name", [b"a\xe2\x80\xa8b", b"a\xc2\x85b", b"a\x0b\x0c\r\x1cb"])
def test_names_were_cut_at_line_ends_of_unicode(tmp_path, name):
    path = os.path.join(tmp_path, os.fsdecode(name))
    with open(path, "wb") as file:
        file.write(b"a;1\n")
    _, query = _scale.asked(path)
    [task] = _scale._tasks_of_objects([path], 1000, False, query)
    assert task[-2:] == ["--", path]
    error = _scale._data_error(f"fathom: a hint\nfathom: {path}:1:3: no number", [])
    assert (error.path, str(error)) == (path, f"{path}:1:3: no number")


def test_times_in_names_of_objects_are_no_places(tmp_path, monkeypatch):
    url, at = "s3://b/12:30:00: x/log.csv", "s3://b/12"
    for names, said, place in [
        ([url], f"{url}:7:8: bad", (url, 7, 8)),
        ([at, url], f"{url}:7:8: bad", (url, 7, 8)),
        ([at, url], f"{at}:7:8: bad: s3://b/c:1:2: d", (at, 7, 8)),
        (["s3://b/a.b"], "s3://b/a-b:7:8: bad", ("s3://b/a-b", 7, 8)),
        ([], f"{at}:7:8: bad", (at, 7, 8)),
        ([url], "no place", (None, None, None)),
    ]:
        error = _scale._data_error(f"fathom: {said}", names)
        assert (error.path, error.line, error.column) == place and str(error) == said
    program = tmp_path / "fathom"
    program.write_text(f"#!/bin/sh\necho 'fathom: {url}:7:8: bad' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("FATHOM_PROGRAM", str(program))
    with pytest.raises(fathom.DataError) as caught:
        _scale.partial(["--stats", "min", "--", url], None)
    assert (caught.value.path, caught.value.line) == (url, 7)


def test_a_second_copy_that_fails_is_no_matter():
    class Twice:
        """The first copy of the only call ends late, and its second one, which fails, behind it."""

        def __init__(self):
            self.copies, self.waits = [], 0

        def submit(self, function, *arguments):
            self.copies.append(len(self.copies))
            return self.copies[-1]

        def wait(self, futures, timeout):
            self.waits += 1
            return [] if self.waits == 1 else futures

        def held(self, future):
            assert future == 0
            return "held"

        def cancel(self, future):
            pass

        def late(self, seconds):
            pass

    engine = Twice()
    assert _scale._all(engine, [(None,)], 1, 2) == ["held"]
    assert engine.copies == [0, 1]


def test_a_cancel_that_fails_spares_no_other():
    class Failing:
        """Whose first task fails, as all cancels do."""

        def __init__(self):
            self.submitted, self.cancelled = 0, []

        def submit(self, function, *arguments):
            self.submitted += 1
            return self.submitted

        def wait(self, futures, timeout):
            return futures[:1]

        def held(self, future):
            raise fathom.DataError("bad")

        def cancel(self, future):
            self.cancelled.append(future)
            raise OSError("lost")

    engine = Failing()
    with pytest.raises(fathom.DataError, match="bad"):
        _scale._all(engine, [(None,)] * 4, None, 0)
    assert engine.cancelled == [2, 3, 4]


def test_an_error_that_is_kept_held_all_states(tmp_path):
    (tmp_path / "a.csv").write_text("k,v\n" + "a,1\n" * 30 + "b,x\n")

    class State:
        pass

    class Keeping:
        """Which keeps the errors of tasks, as Dask does, and of states no more than whoever holds them."""

        def __init__(self):
            self.states, self.errors = weakref.WeakSet(), []

        def submit(self, function, *arguments):
            state = State()
            state.work = functools.partial(function, *arguments)
            self.states.add(state)
            return state

        def wait(self, futures, timeout):
            return futures

        def held(self, future):
            try:
                future.work()
            except fathom.DataError as error:
                self.errors.append(error)
                raise
            return future

        def cancel(self, future):
            pass

    engine = Keeping()
    with pytest.raises(fathom.DataError, match="a.csv:32:3"):
        _scale.run(
            engine, tmp_path / "a.csv", task_bytes=20, records=False, timeout=None, retries=0,
            options={"by": "k", "values": "v"},
        )
    assert engine.errors and not engine.states


@pytest.mark.parametrize("option", [{"records": "no"}, {"records": 1}, {"task_bytes": None}])
def test_what_is_no_truth_or_number_is_told(tmp_path, option):
    asked = {"task_bytes": 1 << 20, "records": False, **option}
    with pytest.raises(TypeError, match=f"{next(iter(option))} is "):
        _scale.plan(tmp_path / "a.csv", **asked, options={})


def test_columns_and_conditions_pass_through(tmp_path, command):
    path = tmp_path / "log.csv"
    path.write_text("host,status,ms\n" + "".join(f"h{i % 9},{200 + i % 4},{i}\n" for i in range(500)))
    table = run(path, Here(1), by="host", values="ms", where="status > 200", stats=["p50", "last"], sort="last", top=3)
    words = ["--by", "host", "--value", "ms", "--where", "status > 200", "--stats", "p50,last"]
    expected = command("aggregate", *words, "--sort", "last", "--top", "3", path)
    assert table.format("csv") == expected
    with pytest.raises(ValueError, match="places of columns count from 1"):
        _scale.plan(path, 1000, False, dict(by="0:10"))


def test_buckets_shares_totals_and_orders_pass_through(tmp_path, command):
    path = tmp_path / "log.csv"
    path.write_text("host,status,ms\n" + "".join(f" H{i % 9},{200 + i % 4},{i * 37 % 400}\n" for i in range(500)))
    asked = dict(by=["ms:50", "host"], values="ms", stats=["count", "sum"], trim=True, ignore_case=True)
    table = run(path, Here(1), **asked, shares=True, total="all", sort=["host", "ms:desc"], top=30)
    words = ["--by", "ms:50,host", "--value", "ms", "--stats", "count,sum", "--trim", "--ignore-case"]
    words += ["--shares", "--total=all", "--sort", "host,ms:desc", "--top", "30"]
    assert table.format("csv") == command("aggregate", *words, path)
    assert len(table) == 31 and table["ms"][0] == "350"
    two = run([path, path], Here(1), compare=True, **asked)
    assert two.format("csv") == command("aggregate", "--compare", *words[:8], path, path)


def test_a_guessed_header_is_that_of_all_inputs(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, text in zip(paths, ["host,ms\na,1\nb,3\n", "a,1\nb,3\n", "host,ms\nb,1\n"]):
        path.write_text(text)
    asked = dict(by=1, values=2, stats="sum")
    for more in (dict(), dict(compare=True)):
        for call in (fathom.aggregate, lambda urls, **asked: run(urls, Here(1), **asked)):
            with pytest.raises(fathom.DataError, match="first record"):
                call(paths[:2], **asked, **more)
    assert dict(run([paths[0], paths[2]], Here(1), **asked)) == {"a": 1, "b": 4}
    two = run([paths[0], paths[2]], Here(1), **asked, compare=True)
    assert list(two) == [("a", 1, 0, -1, -100.0), ("b", 3, 1, -2, pytest.approx(-66.67, abs=0.01))]
    # Sides that were read in two ways are none.
    sides, query = _scale.plan([paths[0], paths[2]], 10**6, False, dict(asked, compare=True))
    first = [_scale.partial(task, query) for task in sides[0]]
    query.ignore_case = True
    with pytest.raises(ValueError, match="ignore case: false and ignore case: true"):
        _scale.finish([first, [_scale.partial(task, query) for task in sides[1]]], query)


@pytest.mark.parametrize("nothing", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", "\n\n".encode("utf-16")])
def test_a_file_without_text_is_none_that_is_guessed_by(tmp_path, nothing):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, data in zip(paths, [nothing, b"k,v\na,1\nb,3\n"]):
        path.write_bytes(data)
    asked = dict(by=1, values=2, stats="sum")
    table = run(paths, Here(1), **asked)
    assert dict(table) == {"a": 1, "b": 3} == dict(fathom.aggregate(paths, **asked))
    assert table.guessed == fathom.aggregate(paths, **asked).guessed


def test_the_encoding_of_a_later_file_was_not_told(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, encoding in zip(paths, ["utf-8", "utf-16-be", "utf-16-le"]):
        path.write_bytes("\ufeffk,v\na,1\n".encode(encoding))
    asked = dict(by=1, values=2, stats="sum")
    table, here = run(paths, Here(1), **asked), fathom.aggregate(paths, **asked)
    assert dict(table) == dict(here) == {"a": 3}
    assert table.guessed == here.guessed and here.guessed["encoding"] == "utf-16-be"


@pytest.mark.parametrize("first", [b"PAR1\x15\x04\x15\x20", b"ARROW1\0\0"])
def test_tables_are_said_to_be_none_of_a_cluster(tmp_path, first):
    paths = [written(tmp_path / "a", 3), os.fspath(tmp_path / "b")]
    (tmp_path / "b").write_bytes(first + bytes(100))
    with pytest.raises(fathom.DataError, match="fathom.aggregate reads it .*the tasks of a cluster read text alone") as caught:
        _scale.plan(paths, 1000, False, dict(by="k", values="v"))
    assert caught.value.path == paths[1]


def test_a_pipe_is_refused_unopened(tmp_path):
    pipe, path = tmp_path / "pipe", written(tmp_path / "a", 3)
    os.mkfifo(pipe)
    for urls in (os.devnull, pipe, [path, os.fspath(pipe)], ["s3://bucket/a", pipe]):
        with pytest.raises(ValueError, match=f"^({pipe}|/dev/null) is no regular file and cannot be cut: name one$"):
            _scale.plan(urls, 1000, False, {})
    with pytest.raises(FileNotFoundError):
        _scale.plan(tmp_path / "none", 1000, False, {})
    with pytest.raises(IsADirectoryError):
        _scale.plan(tmp_path, 1000, False, {})


def test_names_that_are_no_unicode_are_of_two_files(tmp_path):
    paths = [os.fsdecode(os.fsencode(tmp_path) + name) for name in (b"/\xfe", b"/\xff")]
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"a;1\n")
    assert dict(run(paths, Here(1), stats="count")) == {"a": 2}


def test_quotes_are_cut_between_records_or_refused(tmp_path, command):
    path = tmp_path / "quoted.csv"
    path.write_text("k,v\n" + '"a\n\n\nb",1\nc,2\n' * 200)
    with pytest.raises(fathom.DataError):
        run(path, Here(2), task_bytes=61, by="k", values="v")
    table = run(path, Here(2), task_bytes=61, records=True, by="k", values="v")
    assert table.format("csv") == command("aggregate", "--by", "k", "--value", "v", path)


def test_utf_16_is_counted_once_with_records(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(("k,v\n" + '"a\nb",1\nc,2\n' * 200).encode("utf-16"))
    asked = dict(by="k", values="v", stats=["count", "sum"])
    table = run(path, Here(1), task_bytes=100, records=True, **asked)
    assert list(table) == [("a\nb", 200, 200), ("c", 200, 400)]
    [[task]], query = _scale.plan(path, 100, True, asked)
    task[0].end //= 2
    with pytest.raises(OSError, match="a.csv: a part of what is compressed or UTF-16 cannot be read"):
        _scale.partial(task, query)


@pytest.mark.parametrize("asked", [{}, dict(by=1, values=2, quotes=False), dict(by="k", values="v", format_in="ndjson")])
def test_what_has_no_quotes_is_cut_with_records_as_without(tmp_path, asked):
    path = tmp_path / "a.txt"
    path.write_text(('{"k": "a", "v": 1}\n' if "format_in" in asked else "a;1\n") * 100)
    [tasks], _ = _scale.plan(path, 100, True, dict(asked))
    assert len(tasks) == len(_scale.plan(path, 100, False, dict(asked))[0][0]) > 3
    assert run(path, Here(1), task_bytes=100, records=True, stats="sum", **asked).format("csv").endswith(b"\na,100\n")


@pytest.mark.parametrize("size, error", [(0, ValueError), (-1, ValueError), (1.5, TypeError)])
def test_bytes_of_a_task_are_a_whole_number_of_one_or_more(tmp_path, size, error):
    with pytest.raises(error, match="task_bytes is "):
        _scale.plan(written(tmp_path / "a", 3), size, False, {})


@pytest.mark.parametrize(
    "patience, error",
    [({"retries": wrong}, TypeError) for wrong in (None, 1.5, "x", True)]
    + [({"timeout": wrong}, TypeError) for wrong in ("5", True, [1])]
    + [({"timeout": wrong}, ValueError) for wrong in (0, -1, math.nan, math.inf)]
    + [({"retries": -1}, ValueError)],
)
def test_timeout_and_retries_are_numbers_before_anything_is_planned(tmp_path, patience, error):
    missing = tmp_path / "none"
    with pytest.raises(error, match=f"^{next(iter(patience))} is "):
        _scale.run(Here(1), missing, **{"task_bytes": 1, "records": False, "timeout": 1, "retries": 0, "options": {}, **patience})


@pytest.mark.parametrize("url", ["s3://bucket/a", "none"])
@pytest.mark.parametrize(
    "asked, said",
    [
        (dict(approx=True, stats=["mode"]), "cannot tell mode"),
        (dict(approx="3%"), '"3%" is none of'),
        (dict(sort="nope"), 'nothing is called "nope"'),
        (dict(where="a >"), "expected a column"),
        (dict(by="k", header=False), "only a header has names"),
    ],
)
def test_wrong_questions_are_refused_before_anything_is_opened(monkeypatch, url, asked, said):
    monkeypatch.setenv("FATHOM_PROGRAM", "/dev/null")
    with pytest.raises(ValueError, match=said):
        _scale.plan(url, 1000, False, dict(asked))
    with pytest.raises(ValueError, match=said):
        _scale.plan([url, url], 1000, False, dict(asked, compare=True))


def test_what_changes_counts_twice_or_lacks_is_an_error(tmp_path):
    path = written(tmp_path / "a", 100)
    [tasks], query = _scale.plan(path, 300, False, {})
    states = [_scale.partial(task, query) for task in tasks]
    with pytest.raises(ValueError, match="are in two states"):
        _scale.finish([[*states, states[0]]], query)
    with pytest.raises(OSError, match="are in no state"):
        _scale.finish([states[1:]], query)
    damaged = bytearray(states[0])
    damaged[-100] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        _scale.finish([[bytes(damaged)]], query)
    written(tmp_path / "a", 101)
    with pytest.raises(fathom.DataError, match="changed") as raised:
        _scale.partial(tasks[0], query)
    assert raised.value.path == path


def test_a_task_that_is_late_is_started_again_and_given_up_in_the_end(tmp_path):
    path = written(tmp_path / "a", 100)

    class Late(Here):
        """Whose first tries of two tasks never end, and no try of the tasks in `never`."""

        def __init__(self, never=0):
            super().__init__(3)
            self.never, self.hung = never, []

        def submit(self, function, *arguments):
            future = super().submit(function, *arguments)
            if self.calls in (2, 3) or self.calls > len(self.hung) > 0 < self.never:
                self.hung.append(future)
            return future

        def wait(self, futures, timeout):
            return [future for future in futures if future not in self.hung]

    assert run(path, Late(), task_bytes=300, timeout=1).records == 100
    with pytest.raises(_scale.TimedOut, match="none ended in 1 s, 3 times"):
        run(path, Late(never=1), task_bytes=300, timeout=1)


def test_a_cluster_that_is_lost_is_no_timeout_of_dask(monkeypatch):
    from fathom import dask

    engine = dask._Engine(None, 0)
    for error, is_timeout in [(TimeoutError(), True), (asyncio.TimeoutError(), True), (OSError("lost"), False)]:

        def wait(futures, error=error, **options):
            raise error

        monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(wait=wait))
        if is_timeout:
            assert engine.wait([], 1) == []
        else:
            with pytest.raises(OSError, match="lost"):
                engine.wait([], 1)


def test_results_that_do_not_come_are_asked_for_again_and_given_up_in_the_end(tmp_path):
    path = written(tmp_path / "a", 100)

    class Silent(Here):
        """Whose results do not come when they are asked for the first times."""

        def __init__(self, times):
            super().__init__(1)
            self.times, self.lates = times, 0

        def results(self, futures, timeout):
            assert timeout == 1
            self.times -= 1
            return None if self.times >= 0 else super().results(futures, timeout)

        def late(self, seconds):
            self.lates += 1

    engine = Silent(2)
    assert run(path, engine, task_bytes=300, timeout=1).records == 100
    assert engine.lates == 2
    with pytest.raises(_scale.TimedOut, match="does not come: not in 1 s, 3 times"):
        run(path, Silent(3), task_bytes=300, timeout=1)


def test_dask_and_ray_waited_for_ever_for_what_a_stopped_worker_held():
    from fathom import dask, ray

    class Future:
        def __init__(self, status, error=None):
            self.status, self.error, self.asked = status, error, []

        def result(self, timeout=None):
            self.asked.append(timeout)
            if self.error:
                raise self.error
            return b"state"

    engine, there = dask._Engine(None, 0), Future("finished")
    assert engine.results([there, there], 5) == [b"state"] * 2 and there.asked == [5, 5]
    assert engine.results([there, Future("finished", asyncio.TimeoutError())], 5) is None
    with pytest.raises(TimeoutError, match="of a disk"):
        engine.results([Future("error", TimeoutError("of a disk"))], 5)
    # What was lost since it ended may have to wait, which is done with a timeout.
    lost = Future("lost", AssertionError())
    assert engine.held(lost) is lost
    with pytest.raises(OSError):
        engine.held(Future("error", OSError()))

    class GetTimeoutError(Exception):
        pass

    def get(held, timeout):
        if held == "late":
            raise GetTimeoutError
        return held, timeout

    engine = ray._Engine(types.SimpleNamespace(get=get, exceptions=types.SimpleNamespace(GetTimeoutError=GetTimeoutError)), 0)
    assert engine.results("there", 5) == ("there", 5) and engine.results("late", 5) is None


@pytest.mark.parametrize("seconds, interval, given_up", [(0.1, 0.5, [11, 40]), (20, 0.5, [40]), (0.1, 3, [40]), (0.1, 5, [])])
def test_workers_that_were_heard_of_are_kept_by_dask(monkeypatch, seconds, interval, given_up):
    from fathom import dask

    def heartbeat_interval(workers):
        assert workers == 4
        return interval

    gone = []

    class Scheduler:
        workers = {silent: types.SimpleNamespace(last_seen=time.time() - silent) for silent in (0, 8, 11, 40)}

        async def remove_worker(self, address, stimulus_id):
            gone.append(address)

    monkeypatch.setitem(sys.modules, "distributed", types.ModuleType("distributed"))
    scheduler = types.SimpleNamespace(heartbeat_interval=heartbeat_interval)
    monkeypatch.setitem(sys.modules, "distributed.scheduler", scheduler)
    asyncio.run(dask._forget_silent(seconds, dask_scheduler=Scheduler()))
    assert gone == given_up


def test_others_read_states(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    path = written(tmp_path / "a", 400)
    [[task]], query = _scale.plan(path, 10**6, False, {"stats": STATS})
    state = _scale.partial(task, query)
    read = pyarrow.ipc.open_stream(io.BytesIO(state)).read_all()
    read.validate(full=True)
    expected = fathom.aggregate(path, stats=["min", "max", "sum", "count", "distinct", "first", "last"])
    rows = [
        (row["key"].decode(), row["min"], row["max"], row["sum"], row["count"], len(row["values"]), row["first"], row["last"])
        for row in read.to_pylist()
    ]
    assert rows == [tuple(row.values()) for row in expected.to_dicts(exact=True)]
    head = json.loads(read.schema.metadata[b"fathom.head"])
    assert head["objects"][0]["name"] == path and head["objects"][0]["ranges"][0]["records"] == 400
    assert polars.read_ipc_stream(io.BytesIO(state))["sum"].to_list() == read["sum"].to_pylist()
    assert duckdb.sql("select sum(count) from read").fetchall() == [(400,)]
