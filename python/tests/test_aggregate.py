"""Text: the command's golden files, every option against the command, errors and their places."""

import copy
import errno
import gzip
import io
import json
import os
import pathlib
import pickle
import shlex
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal

import pytest

import fathom
from fathom import _scale
from fathom._aggregate import asked


@pytest.mark.parametrize("rounding", ["half-up", "ceiling", "half-even"])
@pytest.mark.parametrize("name", ["cities", "shapes"])
def test_the_commands_golden_files_are_the_modules(data, name, rounding):
    table = fathom.aggregate(data / f"{name}.txt")
    assert table.format("brc", rounding=rounding) == (data / f"{name}.{rounding}").read_bytes()


CSV = b"""host,path,ms,kb
a,/x,1.5,10
b,/x,,7
a,/y,NA,-3
"q,u",/x,2.25,1e2
a,/x,0.5,12345678901234567890
,/z,4,4
"""

EVERY = ["min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range", "distinct"]
EVERY += ["mode", "first", "last", "median", "p90", "p99.9"]

ASKED = [
    (dict(by="host", values="ms"), ["--by", "host", "--value", "ms"]),
    (dict(by=["host", "path"], values=["kb", "ms"]), ["--by", "host,path", "--value", "kb,ms"]),
    (dict(by=2, values=[4, 3], header=True), ["--by", "2", "--value", "4,3", "--header"]),
    (dict(by="path", values="ms", null="zero"), ["--by", "path", "--value", "ms", "--null", "zero"]),
    (
        dict(by="path", values="ms", texts="host", quantiles="nearest", sort="median"),
        ["--by", "path", "--value", "ms", "--text", "host", "--quantiles", "nearest"]
        + ["--sort", "median"],
    ),
    (
        dict(by="path", values="kb", where='kb > 5 && host != "b"'),
        ["--by", "path", "--value", "kb", "--where", 'kb > 5 && host != "b"'],
    ),
    (
        dict(by="path", values=["ms", "kb"], null={"ms": "zero"}, sort="sum", top=2),
        ["--by", "path", "--value", "ms,kb", "--null", "ms=zero", "--sort", "sum", "--top", "2"],
    ),
    (
        dict(by="path", values="kb", reverse=True, threads=2, chunk_bytes=64, on_error="skip"),
        ["--by", "path", "--value", "kb", "--reverse", "--on-error", "skip"],
    ),
    (
        dict(by=["kb:10", "host"], values="ms", trim=True, ignore_case=True, shares=True, total=True),
        ["--by", "kb:10,host", "--value", "ms", "--trim", "--ignore-case", "--shares", "--total"],
    ),
    (
        dict(by=["path", "kb:2.5"], values=["ms", "kb"], sort=["ms_p90:asc", "kb:desc"], shares=True, total="all", top=3),
        ["--by", "path,kb:2.5", "--value", "ms,kb", "--sort", "ms_p90:asc,kb:desc", "--shares", "--total=all", "--top", "3"],
    ),
]


@pytest.mark.parametrize(("keywords", "options"), ASKED)
def test_results_are_bit_for_bit_the_commands(command, tmp_path, keywords, options):
    file = tmp_path / "log.csv"
    file.write_bytes(CSV.replace(b",/z", b"z,/z"))
    shared = ["--delimiter", ",", "--null-values", "NA", "--stats", ",".join(EVERY), file]
    table = fathom.aggregate(file, null_values="NA", stats=EVERY, **keywords)
    for form in ["csv", "tsv", "json", "ndjson", "table"]:
        said = command("aggregate", *options, "--format", form, *shared)
        assert table.format(form) == said
    # What other programs make of the command's JSON is what Python gets, to the last bit.
    said = json.loads(command("aggregate", *options, "--format", "json", *shared))
    for found, expected in zip(table.to_dicts(), said, strict=True):
        assert found.keys() == expected.keys()
        for name, cell in found.items():
            # An integer beyond 64 bits is a double, too.
            assert cell == (float(expected[name]) if isinstance(cell, float) else expected[name])
    exact = json.loads(
        command("aggregate", *options, "--format", "json", *shared),
        parse_float=Decimal,
        parse_int=Decimal,
    )
    assert table.to_dicts(exact=True) == exact


@pytest.mark.parametrize("sort", ["key", "p99_change", "ms_max"])
def test_two_inputs_stand_side_by_side_as_the_command_shows_them(command, tmp_path, sort):
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_bytes(CSV.replace(b",NA,", b",7,"))
    after.write_text("host,path,ms,kb\na,/x,9,1\nnew,/z,1,2\n")
    stats = ["count", "max", "p99", "stddev", "mode"]
    words = ["--compare", "--by", "host,path", "--value", "ms", "--stats", ",".join(stats), "--sort", sort]
    said = command("aggregate", *words, before, after)
    asked = dict(by=["host", "path"], values="ms", stats=stats, sort=sort, compare=True)
    inputs = [before, after.read_bytes()]
    table = fathom.aggregate(inputs, **asked)
    assert table.format("csv") == said
    assert (table.records, table.guessed) == (8, {"delimiter": ","})
    sides, query = _scale.plan([before, after], 20, False, dict(asked))
    assert len(sides) == 2 < len(sides[0])
    assert _scale.finish([[_scale.partial(task, query) for task in tasks] for tasks in sides], query).format("csv") == said
    # What is refused of either is in one file.
    bad = [b"k;1\nx\n", b"k;2\ny\n"]
    table = fathom.aggregate(bad, compare=True, stats="sum", on_error="skip", rejects=tmp_path / "rejects")
    assert (table.rejected, (tmp_path / "rejects").read_bytes()) == (2, b"x\ny\n")
    assert table.to_dicts() == [{"key": "k", "sum_before": 1, "sum_after": 2, "sum_change": 1, "sum_change%": 100}]


def test_shares_totals_and_what_is_compared_are_shown(command):
    text = b"".join(b"k%02d,%d,x\n" % (n, n) for n in range(40))
    asked = dict(by=1, values=2, stats=["count", "sum"], shares=True, delimiter=",", header=False)
    for table in [fathom.aggregate(text, total=True, **asked), fathom.aggregate([text, text], compare=True, **asked)]:
        shown = table.format("table").decode().splitlines()
        lines = repr(table).splitlines()
        assert lines[:11] == shown[:11] and lines[-11:-1] == shown[-10:]
        assert lines[-1].startswith("40 keys, ") and "<p>40 keys, " in table._repr_html_()
        assert repr(pickle.loads(pickle.dumps(table))) == repr(table)
    labelled = fathom.aggregate(text, total="", top=1, **asked)
    assert list(labelled)[-1][:2] == ("", 40)


@pytest.mark.parametrize("nothing", [b"", b"\n\n"])
def test_a_side_without_text_is_none_that_is_guessed_by(nothing, tmp_path, command):
    some = b"k,v\na,1\n"
    paths = [tmp_path / "none.csv", tmp_path / "some.csv"]
    for path, text in zip(paths, [nothing, some]):
        path.write_bytes(text)
    said = command("aggregate", "--compare", "--by", "k", "--value", "v", "--stats", "sum", *paths)
    for data in [[nothing, some], paths]:
        table = fathom.aggregate(data, by="k", values="v", stats="sum", compare=True)
        assert table["sum_after"] == [1] and table.format("csv") == said
        assert fathom.aggregate(data, by=1, values=2, stats="sum", compare=True).columns == table.columns
    sides, query = _scale.plan(paths, 10**6, False, dict(by="k", values="v", stats="sum", compare=True))
    found = _scale.finish([[_scale.partial(task, query) for task in tasks] for tasks in sides], query)
    assert found.format("csv") == said


def test_a_column_of_the_result_is_sorted_by_as_it_is_called(command, tmp_path):
    file = tmp_path / "names.csv"
    file.write_bytes(b"mode,mean,v\ndark,1,5\nlight,2,9\nlight,2,1\nauto,3,4\n")
    for by, sort in [("mode", "mode:desc"), ("mean", "mean_2"), ("mean:1", "mean:desc"), ("mode", "v_max"), ("mode", [])]:
        for reverse in (False, True):
            table = fathom.aggregate(file, by=by, values="v", sort=sort, reverse=reverse)
            words = ["--sort", sort] if sort else []
            words += ["--reverse"] if reverse else []
            assert table.format("csv") == command("aggregate", "--by", by, "--value", "v", *words, file)
    assert fathom.aggregate(file, by="mode", values="v", sort="mode:desc", approx=True)["mode"][0] == "light"
    with pytest.raises(ValueError, match='nothing is called "x"; there is mean, min, mean_2, max, and'):
        fathom.aggregate(file, by="mean", values="v", sort="x")


def test_a_name_with_a_width_is_a_bucket_and_its_place_is_not(tmp_path):
    text = b"t,a:1h,v\n2026-01-01T09:30:00,x,1\n2026-01-01T09:59:59,X ,2\n2026-01-01T10:00:00,x,4\n"
    file = tmp_path / "times.csv"
    file.write_bytes(text)
    sums = dict(values="v", stats="sum", header=True)
    assert dict(fathom.aggregate(file, by="t:1h", **sums)) == {"2026-01-01T09:00:00Z": 3, "2026-01-01T10:00:00Z": 4}
    assert dict(fathom.aggregate(file, by=2, trim=True, ignore_case=True, **sums)) == {"x": 7}
    with pytest.raises(fathom.DataError, match='no column "a"'):
        fathom.aggregate(file, by="a:1h", **sums)
    with pytest.raises(fathom.DataError, match="not a time") as caught:
        fathom.aggregate(file, by="2:1h", **sums)
    assert (caught.value.line, caught.value.field) == (2, "a:1h")


def test_iterators_over_columns_were_read_twice():
    """What was left of them named no column, which is another question."""
    text = b"id,host,ms\n1,a,5\n2,b,7\n3,a,6\n"
    for by, values, texts in [("host", "ms", None), (["host"], None, "id"), (["host"], [], ["id", "ms"])]:
        wanted = fathom.aggregate(text, by=by, values=values, texts=texts).to_dicts()
        lists = [option if option is None else iter([option] if isinstance(option, str) else option) for option in (by, values, texts)]
        assert fathom.aggregate(text, by=lists[0], values=lists[1], texts=lists[2]).to_dicts() == wanted
    # The drivers of clusters ask here.
    _, plan = asked(text, by=iter(["host"]), values=iter(["ms"]))
    assert vars(plan) == vars(asked(text, by=["host"], values=["ms"])[1])


def test_a_stream_that_does_not_wait_says_so():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(reading, "rb", buffering=0) as stream, os.fdopen(writing, "wb"):
        with pytest.raises(OSError, match="has nothing yet, and does not wait"):
            fathom.aggregate(stream)


def test_records_are_counted_without_a_value(command, tmp_path):
    file = tmp_path / "log.csv"
    file.write_bytes(CSV)
    table = fathom.aggregate(file, by="path", values=[], ragged="pad")
    assert table.to_dicts() == [
        {"path": "/x", "count": 4},
        {"path": "/y", "count": 1},
        {"path": "/z", "count": 1},
    ]


def test_all_forms_of_input_are_one():
    text = b"a;1\nb;2.5\na;-3\n" * 1000
    expected = fathom.aggregate(text)
    assert expected.records == 3000
    for data in [
        bytearray(text),
        memoryview(text),
        io.BytesIO(text),
        gzip.compress(text),
        [text[: len(text) // 2], text[len(text) // 2 :]],
    ]:
        assert fathom.aggregate(data) == expected
    assert fathom.aggregate(text[:8]) != expected


LOG = '::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" {} 5 "-" "curl"\n'

GUESSES = [
    (b"k,v\nx,1\ny,2\n", "k", "v", {"delimiter": ","}),
    (b"k\tv\nx, y\t1\n", "k", "v", {"delimiter": "\t"}),
    (b"name;value\na;1,5\nb;-0,25\n", 1, 2, {"delimiter": ";", "header": True, "decimal_comma": True}),
    (b'5" pipe;1,5\n7" pipe;2\n', 1, 2, {"delimiter": ";", "quotes": False, "decimal_comma": True}),
    (b'{"k": "a", "v": {"x": 1}}\n{"k": "b"}\n', "k", "v.x", {"format_in": "ndjson"}),
    (LOG.format(200).encode() + LOG.format(404).encode(), "status", "bytes", {"format_in": "combined"}),
    ("k;v\né;1\n".encode("utf-16"), "k", "v", {"delimiter": ";", "encoding": "utf-16-le"}),
    (b"no delimiter\n", 1, [], {}),
]


@pytest.mark.parametrize(("text", "by", "values", "guessed"), GUESSES)
def test_what_is_not_said_is_guessed_as_the_command_does(command, tmp_path, text, by, values, guessed):
    file = tmp_path / "text.csv"
    file.write_bytes(text)
    value = ["--value", str(values)] if values else ["--count"]
    said = command("aggregate", "--by", str(by), *value, file)
    for data in [file, text, gzip.compress(text), io.BytesIO(text)]:
        table = fathom.aggregate(data, by=by, values=values)
        assert table.format("csv") == said and table.guessed == guessed
    assert pickle.loads(pickle.dumps(table)).guessed == guessed
    [tasks], query = _scale.plan(file, 7, False, dict(by=by, values=values))
    table = _scale.finish([[_scale.partial(task, query) for task in tasks]], query)
    assert table.format("csv") == said and table.guessed == guessed
    assert len(tasks) > 1 or "encoding" in guessed
    # What was guessed can be said, and nothing is guessed any more.
    spoken = {name: value for name, value in guessed.items() if name != "encoding"}
    table = fathom.aggregate(file, by=by, values=values, **spoken)
    assert table.format("csv") == said and not spoken.keys() & table.guessed.keys()


def test_a_guess_is_for_all_inputs_and_can_be_said_otherwise(tmp_path):
    text = b"name;value\na;1,5\nb;2\n"
    ask = dict(by=1, values=2, stats="sum")
    assert fathom.aggregate([b"", b"\n\n", text, text], **ask)["sum"] == [3.0, 4.0]
    with pytest.raises(fathom.DataError, match=r"decimal_comma=True reads") as caught:
        fathom.aggregate(text, decimal_comma=False, **ask)
    assert (caught.value.line, caught.value.text) == (2, b"1,5")
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(text, header=False, **ask)
    assert caught.value.line == 1
    with pytest.raises(fathom.DataError, match="decimal_comma=True"):
        fathom.aggregate(b"a;1,5\n")
    with pytest.raises(fathom.DataError, match="a zip archive"):
        fathom.aggregate(b"PK\x03\x04" + text, **ask)
    with pytest.raises(ValueError, match='format_in: "csv" is none of delimited, common'):
        fathom.aggregate(text, format_in="csv", **ask)
    with pytest.raises(ValueError, match="of delimited text"):
        fathom.aggregate(text, format_in="ndjson", delimiter=",", **ask)


def test_bad_data_has_path_line_column_and_text(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("k,v\na,1\né,zwölf\n")
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(file, by="k", values="v")
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.path, error.line, error.column) == (str(file), 3, 3)
    assert (error.field, error.text) == ("v", "zwölf".encode())
    assert str(error).startswith(f"{file}:3:3: ")
    assert pickle.loads(pickle.dumps(error)).line == 3
    table = fathom.aggregate(file, by="k", values="v", on_error="skip", rejects=os.fsencode(tmp_path / "kept"))
    assert (table.rejected, table.records, len(table)) == (1, 1, 1)
    assert (tmp_path / "kept").read_text() == "é,zwölf\n"


def test_rejects_replace_no_input_and_no_file_of_a_run_that_failed(tmp_path):
    file, link, kept = tmp_path / "in.csv", tmp_path / "link", tmp_path / "kept"
    text = b"a;1\nb;x\n"
    file.write_bytes(text)
    os.link(file, link)
    (tmp_path / "soft").symlink_to("in.csv")
    with open(file, "rb") as opened:
        for data, rejects in [(file, file), ([b"a;1\n", str(file)], link), (file, tmp_path / "soft"), (opened, link)]:
            with pytest.raises(ValueError, match="rejects= would replace the input .*in.csv"):
                fathom.aggregate(data, on_error="skip", rejects=rejects)
    assert file.read_bytes() == text
    kept.write_bytes(b"old")
    kept.chmod(0o640)
    for wrong in [dict(stats="medium"), dict(by="none", values=[]), dict(memory_limit=1)]:
        with pytest.raises((ValueError, MemoryError)):
            fathom.aggregate(file, on_error="skip", rejects=kept, **wrong)
        assert kept.read_bytes() == b"old"
    assert fathom.aggregate(file, on_error="skip", rejects=kept).rejected == 1
    assert kept.read_bytes() == b"b;x\n" and kept.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "kept", "link", "soft"]
    assert fathom.aggregate(file, on_error="skip", rejects="/dev/null").rejected == 1
    with pytest.raises(FileNotFoundError) as caught:
        fathom.aggregate(file, on_error="skip", rejects=tmp_path / "none" / "kept")
    assert caught.value.filename == str(tmp_path / "none" / "kept")


def test_rejects_for_which_there_is_no_room_are_an_error_of_their_file(tmp_path):
    with pytest.raises(OSError) as caught:
        fathom.aggregate(b"a;1\nb\n", on_error="skip", rejects="/dev/full")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")
    limited = "import fathom, resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); "
    asked = limited + "fathom.aggregate(b'b\\n' * 100000, on_error='skip', rejects='kept')"
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr.endswith("OSError: [Errno 27] File too large: 'kept'\n") and os.listdir(tmp_path) == []


def test_of_texts_alone_is_told_what_texts_have():
    assert fathom.aggregate(b"k,v\na,x\na,y\na,x\n", by="k", texts="v").to_dicts() == [{"k": "a", "count": 3, "distinct": 2}]


def test_rejects_are_appended_to_what_is_open_already(tmp_path):
    script = "import fathom; fathom.aggregate(b'a;1\\nb;x\\n', on_error='skip', rejects='/dev/stdout')"
    for asked in ["; echo before; {0}; echo after) > log", "; echo before > log; {0} >> log; echo after >> log)"]:
        command = "(true" + asked.format(f'{shlex.quote(sys.executable)} -c "{script}"')
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
        assert (tmp_path / "log").read_text() == "before\nb;x\nafter\n"
    piped = subprocess.run([sys.executable, "-c", script.replace("\\\\", "\\")], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"b;x\n"


def test_a_pipe_by_its_path_loses_no_byte():
    script = "import fathom; print(fathom.aggregate('/dev/stdin', stats='sum').to_dicts())"
    done = subprocess.run([sys.executable, "-c", script], input=b"a;1\nb;2\n", capture_output=True, timeout=60)
    assert done.stdout == b"[{'key': 'a', 'sum': 1}, {'key': 'b', 'sum': 2}]\n", done.stderr


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        fathom.aggregate(tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
    with pytest.raises(TypeError, match="a path, bytes or something with read.*, not int"):
        fathom.aggregate(5)
    with pytest.raises(TypeError, match="a table that Arrow knows, not dict"):
        fathom.aggregate({"k": ["a"], "v": [1]})
    with pytest.raises(IsADirectoryError):
        fathom.aggregate(tmp_path)
    (tmp_path / "x.csv").write_text("k,v\na,1\n")
    with pytest.raises(fathom.DataError, match="no column"):
        fathom.aggregate(tmp_path / "x.csv", by="host", values="v")
    with pytest.raises(MemoryError):
        fathom.aggregate(b"".join(b"%d;1\n" % n for n in range(10**5)), memory_limit=10000)


@pytest.mark.parametrize(
    "keywords",
    [
        dict(stats="medium"),
        dict(sort="x"),
        dict(quantiles="mean"),
        dict(where="1 +"),
        dict(null="maybe"),
        dict(null={"w": "zero"}, values="v"),
        dict(delimiter="--"),
        dict(delimiter="7"),
        dict(ragged="so"),
        dict(on_error="stop"),
        dict(rejects="file"),
        dict(approx=""),
        dict(stats=[]),
    ],
)
def test_wrong_words_are_refused(keywords):
    with pytest.raises(ValueError):
        fathom.aggregate(b"a;1\n", **keywords)


WRONG = [
    (ValueError, "threads is 1 to 65535, not 0", dict(threads=0)),
    (ValueError, "threads is 1 to 65535, not 65536", dict(threads=65536)),
    (ValueError, "chunk_bytes is 64 to 33554432, not 0", dict(chunk_bytes=0)),
    (ValueError, "top is 0 to", dict(top=-1)),
    (ValueError, "by: places of columns count from 1, and 0 is none", dict(by=0)),
    (ValueError, "by: places of columns count from 1, and 0 is none", dict(by="0:10")),
    (ValueError, "by: places .* -1 is none", dict(by=["k", -1])),
    (ValueError, "values: places", dict(values=0)),
    (ValueError, "texts: places", dict(texts=0)),
    (TypeError, "by: a column is a name or a place, not 1.5", dict(by=1.5)),
    (TypeError, "memory_limit is a whole number, not '1M'", dict(memory_limit="1M")),
    (ValueError, "memory_limit is 1 to", dict(memory_limit=0)),
    (ValueError, 'sort: nothing is called "nope"; there is key, min, mean, max, and every statistic', dict(sort="nope")),
    (ValueError, 'sort: nothing is called "w"; there is k, min, mean, max', dict(by="k", values="v", sort=["k", "w"])),
    (TypeError, "sort is a text or several, and 5 is none", dict(sort=5)),
    (ValueError, "compare= takes a list of two inputs", dict(compare=True)),
    (TypeError, "total is a text or whether there is one, not 5", dict(total=5)),
    (TypeError, "stats is a text or several, and 5 is none", dict(stats=5)),
    (TypeError, "where is a text, not 5", dict(where=5)),
    (TypeError, "format_in is a text, not 5", dict(format_in=5)),
    (TypeError, "delimiter is a text, not b','", dict(delimiter=b",")),
    (TypeError, "approx is a text or whether there is one, not 0.01", dict(approx=0.01)),
    (TypeError, "null is a text, not 5", dict(values="v", null={"v": 5})),
    (TypeError, "header is True or False, not 1", dict(header=1)),
    (TypeError, "quotes is True or False, not 'no'", dict(quotes="no")),
    (TypeError, "decimal_comma is True or False, not 'no'", dict(decimal_comma="no")),
    (TypeError, "trim is True or False, not 'no'", dict(trim="no")),
    (TypeError, "ignore_case is True or False, not 'no'", dict(ignore_case="no")),
    (TypeError, "reverse is True or False, not 'no'", dict(reverse="no")),
    (TypeError, "shares is True or False, not 'no'", dict(shares="no")),
    (TypeError, "compare is True or False, not 'no'", dict(compare="no", by="k")),
    (TypeError, "by: a column is a name or a place, not True", dict(by=True)),
    (TypeError, "by: a column is a name or a place, not b'k'", dict(by=b"k")),
    (TypeError, "values: a column is a name or a place, not bytearray", dict(values=bytearray(b"v"))),
    (ValueError, "by: places", dict(by=2**64)),
    (TypeError, "null_values is a text or several, and 5 is none", dict(null_values=[5])),
    (TypeError, "null is a word or a dict", dict(null=5)),
    (ValueError, r"stats: values=\[\] counts records", dict(by="k", values=[], stats="sum")),
    (ValueError, "sort: records that are only counted have no sum", dict(by="k", values=[], sort="sum")),
    (ValueError, r"stats: values=\[\] counts records", dict(by="k", values=[], stats=["min", "mean", "max"])),
    (ValueError, "stats: of texts count, rows, count%, rows%, distinct, mode, first and last are told", dict(texts="v", stats=["min"])),
]


@pytest.mark.parametrize(("kind", "said", "keywords"), WRONG)
def test_what_an_option_cannot_be_is_said_before_anything_is_read(kind, said, keywords):
    with pytest.raises(kind, match=said):
        fathom.aggregate(Refusing(AssertionError("it was read")), **keywords)


OF_TEXT = ["by", "values", "texts", "where", "stats", "approx", "format_in", "delimiter", "null", "null_values", "sort", "total"]


@pytest.mark.parametrize("name", OF_TEXT)
@pytest.mark.parametrize("several", [False, True])
def test_what_is_no_unicode_text_is_said_by_its_option(name, several):
    if several and name in ("where", "approx", "format_in", "delimiter", "total"):
        return
    value = {"v": "\udc80"} if several and name == "null" else ["\udc80"] if several else "\udc80"
    with pytest.raises(ValueError, match=rf"^{name}: '\\udc80' is no Unicode text"):
        fathom.aggregate(Refusing(AssertionError("it was read")), **{"values": "v", name: value})


def test_several_keys_are_none_of_brc():
    table = fathom.aggregate(b'k,j,v\na,x,1\n"a,x",y,2\n', by=["k", "j"], values="v")
    with pytest.raises(ValueError, match="the brc format shows one key and one value"):
        table.format("brc")


def test_integers_and_truths_of_other_libraries_are_integers_and_truths():
    np = pytest.importorskip("numpy")
    text, ask = b"k,v\na,1\nb,2\n", dict(stats=["sum"], top=1, sort="sum", threads=2)
    plain = fathom.aggregate(text, by=1, values=[2], null={2: "zero"}, header=True, **ask)
    others = dict(ask, top=np.int8(1), threads=np.uint16(2), total=np.False_, approx=np.bool_(False))
    for by, values in [(np.int64(1), np.uint8(2)), ([np.int32(1)], (np.int64(2),)), (np.array(1), np.array([2]))]:
        assert fathom.aggregate(text, by=by, values=values, null={np.int64(2): "zero"}, header=np.bool_(True), **others) == plain
    assert plain.format("csv", np.int64(1)) == plain.format("csv", 1)
    for kind, wrong in [(ValueError, 19), (ValueError, -1), (ValueError, 300), (TypeError, "2"), (TypeError, True)]:
        with pytest.raises(kind, match="decimals is"):
            plain.format("csv", wrong)


def test_integers_of_any_size_are_integers(tmp_path):
    text = b"k,v,w\na,18446744073709551615,1\na,-5,1\nb,,1.5\n"
    table = fathom.aggregate(text, by="k", values=["v", "w"], stats=["max", "sum", "range", "mean"])
    a, b = table.to_dicts()
    assert (a["v_max"], a["v_sum"], a["v_range"]) == (2**64 - 1, 2**64 - 6, 2**64 + 4)
    assert [type(a[name]) for name in ("v_max", "v_mean", "w_max")] == [int, float, float] and b["v_max"] is None
    assert table["v_sum"] == [2**64 - 6, b["v_sum"]] and next(iter(table))[1] == 2**64 - 1
    again = pickle.loads(pickle.dumps(table))
    assert again == table and again.to_dicts() == table.to_dicts()
    [most] = fathom.aggregate(b"a;%d\n" % (10**40), stats="max")["max"]
    assert most == 10**40 and type(most) is int
    # More digits than Python reads of a text.
    many = "9" * 5000
    table = fathom.aggregate(f"a;-{many}\nb;1\n".encode(), stats="max")
    assert table["max"] == [1 - 10**5000, 1] == [row["max"] for row in table.to_dicts()]
    both = fathom.aggregate([text, text.replace(b"-5", b"-6")], compare=True, by="k", values="v", stats=["sum"])
    assert both["sum_before"][0] - 1 == both["sum_after"][0] == 2**64 - 7


@pytest.mark.parametrize("threads", [0, -1, 65536])
def test_threads_are_as_many_as_the_command_takes(threads):
    with pytest.raises(ValueError, match="threads is 1 to 65535"):
        fathom.haversine(b"[]", threads=threads)


def test_a_result_is_shown_pickled_and_compared():
    table = fathom.aggregate(b"".join(b"k%03d;%d.5\n" % (n, n) for n in range(30)))
    lines = repr(table).splitlines()
    assert lines[0].split() == ["key", "min", "mean", "max"]
    assert (lines[1].split()[0], lines[11], lines[-1]) == ("k000", "… 10 more", "30 keys, 30 records")
    assert len(lines) == 23
    html = table._repr_html_()
    assert html.count("<tr>") == 22 and "k029" in html and "k015" not in html
    again = pickle.loads(pickle.dumps(table))
    assert again == table and repr(again) == repr(table) and again._repr_html_() == html
    assert again.to_dicts(exact=True) == table.to_dicts(exact=True)
    with pytest.raises(ValueError, match="before"):
        again.format("brc")
    assert pickle.loads(pickle.dumps(again)) == table
    assert copy.copy(table) is table and copy.deepcopy([table])[0].format("brc") == table.format("brc")


def test_tables_are_equal_if_they_say_the_same_of_as_many_records():
    table = fathom.aggregate(b"a;1\nb;2\n")
    assert table == fathom.aggregate(b"a;1\r\nb;2\r\n") != fathom.aggregate(b"a;1\nb;2\nb;2\n")
    skipped = fathom.aggregate(b"a;1\nb;2\nx\n", on_error="skip")
    assert table != skipped == fathom.aggregate(b"x\na;1\nb;2\n", on_error="skip")


def test_refused_records_are_told_wherever_a_table_is_shown():
    table = fathom.aggregate(b"a;1\nb;x\n", on_error="skip")
    assert repr(table).endswith("\n1 key, 1 record, 1 refused")
    assert "<p>1 key, 1 record, 1 refused, 8 bytes</p>" in table._repr_html_()


def test_one_is_no_plural():
    table = fathom.aggregate(b"a;1\n")
    assert repr(table).endswith("\n1 key, 1 record") and "<p>1 key, 1 record, 4 bytes</p>" in table._repr_html_()
    none = fathom.aggregate(b"\n")
    assert repr(none).endswith("\n0 keys, 0 records") and none._repr_html_().endswith("<p>0 keys, 0 records, 1 byte</p>")


def test_numbers_that_doubles_do_not_hold_are_shown_in_notebooks():
    html = fathom.aggregate(b"a;1e400\nb;2.5e-400\nc;-0.000000000000\nd;1234567890.25\ne;5e-324\n", stats="max")._repr_html_()
    for shown in ["1e+400", "2.5e-400", "0", "1234567890", "5e-324"]:
        assert f">{shown}<" in html


def test_texts_of_others_are_escaped_in_notebooks():
    html = fathom.aggregate(b"<b>&;1\n")._repr_html_()
    assert "&lt;b&gt;&amp;" in html and "<b>" not in html
    table = fathom.aggregate('"k\ny";v\n"a\n\0\x1b\u0085é";1\n'.encode(), by=1, values=2, header=True)
    for shown in [repr(table), table._repr_html_()]:
        assert "k\\ny" in shown and "a\\n\\u{0}\\u{1b}\\u{85}é" in shown


class Endless:
    """A reader that never ends: a beginning, then the same record again and again."""

    def __init__(self, begin: bytes, record: bytes):
        self.ready, self.record = begin, record

    def read(self, size):
        if len(self.ready) < size:
            self.ready += self.record * (size // len(self.record) + 1)
        given, self.ready = self.ready[:size], self.ready[size:]
        return given


@pytest.mark.parametrize("what", ["aggregate", "haversine"])
def test_ctrl_c_ends_a_run_within_a_tenth_of_a_second(what):
    pair = b'{"x0":0,"y0":0,"x1":90,"y1":0},'
    calls = {
        "aggregate": lambda: fathom.aggregate(Endless(b"", b"a;1.5\n")),
        "haversine": lambda: fathom.haversine(Endless(b'{"pairs":[', pair)),
    }
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    best = 10.0
    # On a busy machine any one try may be late; a run that does not listen is late always.
    for _ in range(5):
        timer = threading.Timer(0.3, press)
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                calls[what]()
            best = min(best, time.monotonic() - pressed[-1])
        finally:
            timer.cancel()
            timer.join()
    assert best < 0.1


@pytest.mark.parametrize("what", ["text", "table"])
def test_ctrl_c_does_not_wait_until_millions_of_keys_are_in_order(tmp_path, what):
    keys = 1_000_000
    names = [f"name {number * 7919 % keys}" for number in range(keys)]
    if what == "table":
        pa = pytest.importorskip("pyarrow")
        data = pa.table({"name": names, "number": range(keys)})
        options = {"by": "name", "values": "number"}
    else:
        data, options = "".join(f"{name};1\n" for name in names).encode(), {}
    whole = fathom.aggregate(data, **options).bytes
    best = 10.0
    for _ in range(3):
        pressed = []

        def press(done):
            # All is read, and everything else is left.
            if done == whole and not pressed:
                pressed.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            fathom.aggregate(data, progress=press, **options)
        best = min(best, time.monotonic() - pressed[0])
        # What was left to itself works on.
        time.sleep(1)
    assert best < 0.1


CALLS = {"aggregate": fathom.aggregate, "haversine": fathom.haversine}
TEXTS = {"aggregate": b"a;1\nb;2\n", "haversine": b'{"pairs":[{"x0":0,"y0":0,"x1":90,"y1":0}]}'}


@pytest.mark.parametrize("what", CALLS)
def test_a_pipe_may_be_written_by_another_thread(tmp_path, what):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # A process that hangs while it has Python's lock can be ended by another only.
    script = (
        "import fathom, pathlib, sys, threading\n"
        "what, pipe, text = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].encode()\n"
        "def write():\n"
        "    with open(pipe, 'wb', buffering=0) as file:\n"
        "        [file.write(text[at:at + 1]) for at in range(len(text))]\n"
        "threading.Thread(target=write, daemon=True).start()\n"
        "found = getattr(fathom, what)(pipe)\n"
        "assert found == getattr(fathom, what)(text), found\n"
    )
    subprocess.run([sys.executable, "-c", script, what, pipe, TEXTS[what].decode()], check=True, timeout=60)


@pytest.mark.parametrize("what", CALLS)
def test_a_read_that_waits_is_interrupted(tmp_path, what):
    pipe, script = tmp_path / "pipe", tmp_path / "wait.py"
    os.mkfifo(pipe)
    script.write_text(
        "import fathom, sys, time\n"
        "what, path, how = sys.argv[1:]\n"
        "data = path if how == 'path' else open(path, 'rb')\n"
        "print('here', flush=True)\n"
        "try:\n"
        "    getattr(fathom, what)(data)\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic(), flush=True)\n"
    )
    best = 10.0
    for how, opens in [("path", False), ("path", True), ("object", True)] * 2:
        words = [sys.executable, script, what, pipe, how]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as waiting:
            try:
                # With a writer it waits for bytes, without one for a writer.
                writer = open(pipe, "wb", buffering=0) if opens else None
                assert waiting.stdout.readline() == b"here\n"
                if opens:
                    writer.write(TEXTS[what][:-1])
                time.sleep(0.3)
                pressed = time.monotonic()
                waiting.send_signal(signal.SIGINT)
                said = waiting.communicate(timeout=20)[0]
                best = min(best, float(said) - pressed)
            finally:
                waiting.kill()
    assert best < 0.1


class Refusing:
    """A reader that raises, at once or when it is asked again."""

    def __init__(self, said, begin=b""):
        self.said, self.begin = said, begin

    def read(self, size):
        given, self.begin = self.begin[:size], self.begin[size:]
        if given:
            return given
        raise self.said


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("said", [KeyboardInterrupt(), ValueError("no more"), ConnectionResetError(104, "reset")])
def test_what_a_reader_raises_arrives_as_itself(what, said):
    for begin in [b"", TEXTS[what][:-1]]:
        with pytest.raises(type(said)) as caught:
            CALLS[what](Refusing(said, begin))
        assert caught.value is said


def test_other_threads_run_meanwhile_and_progress_is_told(tmp_path):
    file = tmp_path / "large"
    file.write_bytes(b"a;1.5\nbc;2.5\n" * 2_000_000)
    told, turns, done = [], [0], threading.Event()

    def other():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    table = fathom.aggregate(file, threads=1, progress=told.append)
    done.set()
    thread.join()
    assert table.records == 4_000_000
    assert turns[0] > 1 and told == sorted(told) and told[-1] <= table.bytes == 26_000_000

    class Stop(Exception):
        pass

    def stop(_):
        raise Stop

    with pytest.raises(Stop):
        fathom.aggregate(Endless(b"", b"a;1.5\n"), progress=stop)


def test_names_that_are_no_unicode_or_no_names_are_said(tmp_path):
    file = os.path.join(os.fsencode(tmp_path), b"\xff")
    with open(file, "wb") as opened:
        opened.write(b"{")
    for call in (fathom.aggregate, fathom.haversine):
        with pytest.raises(fathom.DataError) as caught:
            call(os.fsdecode(file))
        assert caught.value.path == os.fsdecode(file)
        with pytest.raises(FileNotFoundError) as caught:
            call(os.fsdecode(file + b"x"))
        assert caught.value.filename == os.fsdecode(file + b"x")
        with pytest.raises(ValueError, match="null byte"):
            call("a\0b")


def test_columns_that_a_format_lacks_are_a_value_error():
    with pytest.raises(ValueError, match="lines of JSON have no column 1"):
        fathom.aggregate(b'{"a": 1}\n', by=1, values="a", format_in="ndjson")
    with pytest.raises(ValueError, match="an access log has no column"):
        fathom.aggregate(LOG.format(200).encode(), by="x", values="bytes", format_in="combined")


def test_haversine_is_exact_and_says_where_it_is_not(command, tmp_path):
    file = tmp_path / "pairs.json"
    command("generate", "pairs", "--count", "1000", "--seed", "1", "--output", file)
    found = fathom.haversine(file)
    said = json.loads(command("haversine", "--format", "json", file))
    assert (found.pairs, found.mean, found.mean_in_order) == (
        said["pairs"],
        said["mean_exact"],
        said["mean_in_order"],
    )
    assert fathom.haversine(gzip.compress(file.read_bytes()), threads=2) == found
    assert fathom.haversine(file, exact_only=True) == found._replace(mean_in_order=None)
    with pytest.raises(TypeError, match="exact_only is True or False, not 'no'"):
        fathom.haversine(file, exact_only="no")
    with pytest.raises(fathom.DataError) as caught:
        fathom.haversine(b'{"pairs":[\n{"x0":1,"y0":2,"x1":3,"y1":"4"}]}')
    assert (caught.value.line, caught.value.column) == (2, 28)
    skipped = fathom.haversine(
        b'{"pairs":[7,{"x0":0,"y0":0,"x1":90,"y1":0}]}', on_error="skip", radius=2.0
    )
    assert (skipped.pairs, skipped.skipped) == (1, 1)
    assert skipped.mean == pytest.approx(3.141592653589793)
    assert fathom.haversine(memoryview(gzip.compress(file.read_bytes()))) == found
    with pytest.raises(ValueError, match="radius"):
        fathom.haversine(b"[]", radius=-1.0)
    with pytest.raises(TypeError, match="radius is a number, not True"):
        fathom.haversine(b"[]", radius=True)
    with pytest.raises(ValueError, match="on_error is 'fail' or 'skip', not 'x'"):
        fathom.haversine(b"[]", on_error="x")
    for wrong in [5, None, [0, 1]]:
        with pytest.raises(TypeError, match="a path, bytes or something with read"):
            fathom.haversine(wrong)


def test_paths_may_be_of_any_kind(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"a;1\n")
    assert fathom.aggregate(str(file)) == fathom.aggregate(pathlib.Path(file))
    with open(file, "rb") as opened:
        assert fathom.aggregate(opened) == fathom.aggregate(file)

    class Local:
        """As pytest's: a path whose `read` takes a mode."""

        def __fspath__(self):
            return str(file)

        def read(self, mode):
            return file.read_text()

    assert fathom.aggregate(Local()) == fathom.aggregate([Local()]) == fathom.aggregate(file)

    class Opened(io.FileIO):
        """As fsspec's: an open file with a path."""

        def __fspath__(self):
            return str(file)

    file.write_bytes(b"a;1\na;1\n")
    with Opened(file) as opened:
        opened.readline()
        assert fathom.aggregate(opened).records == 1
    with pytest.raises(OSError, match="binary"):
        fathom.aggregate(io.StringIO("a;1\n"))


def test_estimates_are_followed_by_their_errors():
    text = "".join(f"k;{i}\n" for i in range(5000)).encode()
    near = fathom.aggregate(text, stats=["p50", "distinct", "sum"], approx=True)
    assert near.columns == ["key", "p50", "p50_error%", "distinct", "distinct_error%", "sum"]
    [row] = near.to_dicts()
    assert abs(row["p50"] / 2499.5 - 1) <= 0.01 and row["p50_error%"] == 1
    assert abs(row["distinct"] / 5000 - 1) <= 0.04 and row["distinct_error%"] == 0.8125
    assert row["sum"] == sum(range(5000))
    finer = fathom.aggregate(text, stats=["p99"], approx="0.01%")
    assert abs(finer["p99"][0] / 4949.01 - 1) <= 0.0001
    with pytest.raises(ValueError, match="cannot tell mode"):
        fathom.aggregate(text, stats=["mode"], approx=True)
    with pytest.raises(ValueError, match="none of 1%, 0.1%, 0.01%"):
        fathom.aggregate(text, stats=["p50"], approx="2%")


def test_a_histogram_is_a_text_of_bins():
    [row] = fathom.aggregate(b"k;0\nk;9.5\nk;10\n", stats=["histogram"]).to_dicts()
    assert json.loads(row["histogram"]) == {"from": 0, "to": 10, "counts": [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]}
    with pytest.raises(ValueError, match="no order"):
        fathom.aggregate(b"k;0\n", stats=["histogram"], sort="histogram")


def test_values_are_computed_and_commas_are_points():
    text = b"k;price;n\na;0,10;3\na;19,99;2\n"
    [row] = fathom.aggregate(
        text, by="k", values=["price * n", "n"], stats=["sum"], delimiter=";", decimal_comma=True
    ).to_dicts(exact=True)
    assert row == {"k": "a", "price * n_sum": Decimal("40.28"), "n_sum": Decimal(5)}
    with pytest.raises(ValueError, match="digits without end"):
        fathom.aggregate(text, by="k", values="price / n", delimiter=";")
    plain = fathom.aggregate(b'5" pipe;1\n', by=1, values=2, stats=["sum"], delimiter=";", quotes=False)
    assert plain["key"] == ['5" pipe']
