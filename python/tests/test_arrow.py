"""Arrow: tables of others in, results out, and the same answers as from text."""

import io
import itertools
import random
import sys
from decimal import Decimal

import pytest

import fathom

pl = pytest.importorskip("polars", reason="needs polars")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pd = pytest.importorskip("pandas", reason="needs pandas")
duckdb = pytest.importorskip("duckdb", reason="needs duckdb")

SUMS = ["min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range"]
VALUES = ["median", "p99.9", "distinct", "mode", "first", "last", "sum"]


@pytest.fixture(scope="module")
def frame():
    """Keys of all lengths; doubles of few digits, of many, large, small and missing ones."""
    draw = random.Random(7)
    kinds = [
        lambda: draw.randrange(-999, 1000) / 10,
        lambda: draw.random(),
        lambda: draw.random() * 10 ** draw.randrange(-300, 300),
        lambda: None,
        lambda: float(draw.randrange(10**17)),
        lambda: 0.1 + 0.2,
    ]
    rows = 5000
    keys = ["abcdefghijklmnopqrstuvwxyzéè"[: 1 + draw.randrange(28)] for _ in range(rows)]
    return pl.DataFrame(
        {
            "k": keys,
            "g": [draw.randrange(-5, 300) for _ in range(rows)],
            "v": [draw.choice(kinds)() for _ in range(rows)],
            "n": [draw.randrange(-(2**63), 2**63) for _ in range(rows)],
        }
    )


def text_of(frame, columns) -> bytes:
    """CSV in which doubles are written by Python, the shortest decimals there are."""
    text = io.StringIO()
    text.write(",".join(columns) + "\n")
    for row in frame.select(columns).iter_rows():
        text.write(",".join("" if cell is None else repr(cell) if isinstance(cell, float) else str(cell) for cell in row) + "\n")
    return text.getvalue().encode()


@pytest.mark.parametrize("by", ["k", "g", ["k", "g"]])
@pytest.mark.parametrize("values", ["v", "n", ["v", "n"]])
@pytest.mark.parametrize("stats", [SUMS, VALUES])
def test_a_table_and_its_text_have_the_same_result(frame, by, values, stats):
    columns = [by] if isinstance(by, str) else by
    columns = columns + ([values] if isinstance(values, str) else values)
    text = text_of(frame, columns)
    expected = fathom.aggregate(text, by=by, values=values, delimiter=",", stats=stats)
    for table in [
        frame,
        frame.to_arrow(),
        frame.to_arrow().slice(0).combine_chunks(),
        pl.concat([frame[:7], frame[7:100], frame[100:]], rechunk=False),
        frame.with_columns(pl.col("k").cast(pl.Categorical)),
        pa.table({"pad": [0] * 5000} | {name: frame[name].to_arrow() for name in columns}),
    ]:
        found = fathom.aggregate(table, by=by, values=values, stats=stats, threads=2)
        assert found.format("csv") == expected.format("csv")


@pytest.mark.parametrize("stats", [SUMS, VALUES])
def test_whole_doubles_are_doubles_as_those_of_text(stats):
    table = pa.table({"k": ["a", "a", "b"], "v": [1.0, 2.0, -0.0]})
    found = fathom.aggregate(table, by="k", values="v", stats=stats)
    expected = fathom.aggregate(b"k,v\na,1.0\na,2.0\nb,-0.0\n", by="k", values="v", stats=stats)
    assert found.format("table") == expected.format("table")
    assert found.to_arrow() == expected.to_arrow() and found.to_arrow().schema.field("sum").type == pa.float64()


@pytest.mark.parametrize(
    "text", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
)
def test_texts_of_every_layout_and_offset_are_read(text):
    keys = ["a", None, "b" * 12, "c" * 13, "", "é" * 40, "a", "b" * 12]
    table = pa.table({"k": pa.array(keys, pa.string()).cast(text), "v": list(range(8))})
    expected = {}
    for start in range(8):
        for stop in range(start + 1, 9):
            part = table.slice(start, stop - start)
            found = fathom.aggregate(part, by="k", values="v", stats="sum", on_error="skip")
            expected = {}
            for key, value in list(zip(keys, range(8)))[start:stop]:
                if key:
                    expected[key] = expected.get(key, 0) + value
            assert dict(found) == expected
            assert found.rejected == sum(not key for key in keys[start:stop])


@pytest.mark.parametrize(
    "type",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
)
def test_integers_of_every_width_are_exact(type):
    bits = int(str(type).lstrip("uint"))
    least, most = (0, 2**bits - 1) if str(type)[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    table = pa.table({"k": pa.array([1, 1, 1], type), "v": pa.array([least, most, None], type)})
    found = fathom.aggregate(table, by="k", values="v", stats=["min", "max", "sum", "rows"])
    assert found.to_dicts(exact=True) == [{"k": "1", "min": least, "max": most, "sum": least + most, "rows": 3}]


def test_decimals_are_exact_and_doubles_their_shortest_decimal():
    wide = Decimal("12345678901234567890123456789012345.678")
    table = pa.table({"k": ["a"] * 3, "v": pa.array([wide, Decimal("0.322"), None], pa.decimal128(38, 3))})
    found = fathom.aggregate(table, by="k", values="v", stats=["sum", "count"]).to_dicts(exact=True)
    assert found == [{"k": "a", "sum": Decimal("12345678901234567890123456789012346"), "count": 2}]
    tenths = pl.DataFrame({"k": ["a"] * 10, "v": [0.1] * 10})
    assert fathom.aggregate(tenths, by="k", values="v", stats="sum").to_dicts(exact=True) == [
        {"k": "a", "sum": Decimal(1)}
    ]
    singles = tenths.with_columns(pl.col("v").cast(pl.Float32))
    assert fathom.aggregate(singles, by="k", values="v", stats="sum")["sum"] == [1.0]
    assert fathom.aggregate(pl.DataFrame({"k": ["a"], "v": [0.1 + 0.2]}), by="k", values="v", stats="max").to_dicts(
        exact=True
    ) == [{"k": "a", "max": Decimal("0.30000000000000004")}]


@pytest.mark.parametrize(
    "type",
    [pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal64(15, 0), pa.decimal256(60, 2), pa.decimal128(20, -3), pa.decimal32(6, -3)],
)
def test_decimals_of_every_width_and_scale_are_exact(type):
    values = [Decimal("-12.25"), None, Decimal("999.75")] if type.scale > 0 else [Decimal("-12000"), None, Decimal("999000")]
    table = pa.table({"k": ["a"] * 3, "v": pa.array(values, type)})
    asked = dict(values="v", stats=["min", "max", "sum", "rows"])
    wanted = {"min": values[0], "max": values[2], "sum": values[0] + values[2], "rows": 3}
    assert fathom.aggregate(table, by="k", **asked).to_dicts(exact=True) == [{"k": "a", **wanted}]
    assert fathom.aggregate(table.slice(1), by="k", values="v", stats="sum").to_dicts(exact=True) == [{"k": "a", "sum": values[2]}]
    found = fathom.aggregate(table, by="v:1000", values=[], where="v > 1")
    assert dict(found) == {str(int(values[2] // 1000) * 1000): 1}
    if type.scale <= 0:
        found = fathom.aggregate(table, by="v", values=[], on_error="skip")
        assert dict(found) == {"-12000": 1, "999000": 1}


def test_a_decimal_that_128_bits_do_not_hold_is_refused_by_its_row():
    wide, coarse = pa.decimal256(60, 0), pa.decimal128(38, -3)

    def of(units, type):
        data = b"".join(one.to_bytes(type.byte_width, "little", signed=True) for one in units)
        return pa.table({"k": ["a", "b"], "v": pa.Array.from_buffers(type, 2, [None, pa.py_buffer(data)])})

    for many in [2**127 - 1, -(2**127)]:
        found = fathom.aggregate(of([1, many], wide), by="k", values="v", stats="sum").to_dicts(exact=True)
        assert found[1] == {"k": "b", "sum": many}
    for many, type in [(2**127, wide), (-(2**127) - 1, wide), (10**50, wide), (10**37, coarse)]:
        table = of([1, many], type)
        with pytest.raises(ValueError, match="row 2, column 2: a decimal of more than 128 bits"):
            fathom.aggregate(table, by="k", values="v")
    halves = pa.table({"k": ["a"], "v": pa.array([0.5], pa.float32()).cast(pa.float16())})
    with pytest.raises(TypeError, match='"v" has floating-point numbers of 16 bits, which are not read: cast it'):
        fathom.aggregate(halves, by="k", values="v")


@pytest.mark.parametrize("place, texts", [(2, ["a"]), (1, ["a"]), (-1, ["a"]), (0, [])])
def test_a_place_beyond_its_dictionary_was_a_panic(place, texts):
    places, texts = pa.array([0, None, place] if texts else [None, None, place], pa.int8()), pa.array(texts, pa.string())
    keys = pa.DictionaryArray.from_arrays(places, texts, safe=False)
    table = pa.table({"k": keys, "v": [1, 2, 3]})
    for asked in [{"by": "k"}, {"by": "v", "where": 'k == "a"'}]:
        with pytest.raises(ValueError, match=f"row 3, column 1: a place that its dictionary of {len(texts)} has not"):
            fathom.aggregate(table, values="v", on_error="skip", **asked)


def test_objects_were_keys_by_their_addresses():
    polars = pytest.importorskip("polars", reason="needs polars")
    frame = polars.DataFrame({"o": polars.Series([object(), "a"], dtype=polars.Object), "k": ["a", "b"], "v": [1, 2]})
    for by in ["o", 1, ["k", "o"]]:
        with pytest.raises(TypeError, match="column 'o' has objects of Python"):
            fathom.aggregate(frame, by=by, values="v")
    assert fathom.aggregate(frame, by="k", values="v", stats="sum").to_dicts() == [{"k": "a", "sum": 1}, {"k": "b", "sum": 2}]


def test_keys_of_one_length_are_read_at_every_offset():
    keys = [b"ab", None, b"a\xff", b"ab", b"cd"]
    table = pa.table({"k": pa.array(keys, pa.binary(2)), "v": [1, 2, 4, 8, 16]})
    for start in range(5):
        found = fathom.aggregate(table.slice(start), by="k", values="v", stats="sum", on_error="skip", where='k != "cd"')
        expected = {}
        for key, value in list(zip(keys, [1, 2, 4, 8]))[start:]:
            if key:
                expected[key] = expected.get(key, 0) + value
        assert {key if isinstance(key, bytes) else key.encode(): value for key, value in found} == expected


def test_not_a_number_is_refused_by_its_row_or_missing_if_so_asked():
    frame = pl.DataFrame({"k": ["a", "b", "c"], "v": [1.0, float("nan"), float("-inf")]})
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(frame, by="k", values="v")
    error = caught.value
    assert (error.path, error.line, error.column, error.field, error.text) == ("<arrow>", 2, 2, "v", b"NaN")
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(frame, by="k", values="v", null_values="NaN")
    assert caught.value.line == 3
    found = fathom.aggregate(frame, by="k", values="v", null_values="NaN", on_error="skip", stats="count")
    assert dict(found) == {"a": 1, "b": 0} and found.rejected == 1
    zeros = fathom.aggregate(frame[:2], by="k", values="v", null="zero", null_values="NaN", stats="sum")
    assert dict(zeros) == {"a": 1, "b": 0}
    with pytest.raises(fathom.DataError, match="missing"):
        fathom.aggregate(pl.DataFrame({"k": ["a"], "v": [None]}).cast({"v": pl.Int64}), by="k", values="v", null="fail")


def test_not_a_number_of_pandas_is_missing_as_pandas_hands_it_over():
    frame = pd.DataFrame({"k": ["a", "b"], "v": [1.0, float("nan")]})
    assert dict(fathom.aggregate(frame, by="k", values="v", stats="count")) == {"a": 1, "b": 0}
    frame["v"] = [float("inf"), 1.0]
    with pytest.raises(fathom.DataError, match="inf"):
        fathom.aggregate(frame, by="k", values="v")


def test_columns_that_are_not_there_or_no_numbers_are_named():
    frame = pl.DataFrame({"k": ["a"], "d": ["1"], "v": [1]})
    with pytest.raises(KeyError, match="there are: k, d, v"):
        fathom.aggregate(frame, by="k", values="w")
    with pytest.raises(KeyError, match="no column 4"):
        fathom.aggregate(frame, by=1, values=4)
    with pytest.raises(ValueError, match='formulas need text, .* make "v \\* v" a column of it'):
        fathom.aggregate(frame, by="k", values="v * v")
    with pytest.raises(TypeError, match="numbers are needed"):
        fathom.aggregate(frame, by="k", values="d")
    with pytest.raises(TypeError, match="text, integers, truths or times"):
        fathom.aggregate(frame.with_columns(x=0.5), by="x", values="v")


TIMES = [
    (pa.bool_(), [True, False], ["true", "false"]),
    (pa.date32(), [19_000, -1], ["2022-01-08", "1969-12-31"]),
    (pa.date64(), [86_400_000, -86_400_000], ["1970-01-02T00:00:00", "1969-12-31T00:00:00"]),
    (pa.time32("s"), [0, 86_399], ["00:00:00", "23:59:59"]),
    (pa.time32("ms"), [5, 3_600_000], ["00:00:00.005", "01:00:00"]),
    (pa.time64("us"), [5, 1_000], ["00:00:00.000005", "00:00:00.001"]),
    (pa.time64("ns"), [1, 0], ["00:00:00.000000001", "00:00:00"]),
    (pa.timestamp("s"), [0, 253_402_300_800], ["1970-01-01T00:00:00", "+10000-01-01T00:00:00"]),
    (pa.timestamp("ms"), [-1, 1_700_000_000_250], ["1969-12-31T23:59:59.999", "2023-11-14T22:13:20.250"]),
    (pa.timestamp("us", "+02:00"), [-1, 0], ["1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z"]),
    (pa.timestamp("ns", "Europe/Paris"), [1, 0], ["1970-01-01T00:00:00.000000001Z", "1970-01-01T00:00:00Z"]),
    # What is beyond the calendar, as marks for "never" are.
    (pa.date32(), [2**31 - 1, 0], ["2147483647 days", "1970-01-01"]),
    (pa.time64("us"), [86_400_000_000, -1], ["86400000000 us", "-1 us"]),
    (pa.timestamp("us"), [2**63 - 1, 0], ["9223372036854775807 us", "1970-01-01T00:00:00"]),
]


@pytest.mark.parametrize(("type", "counts", "texts"), TIMES, ids=[str(type) for type, *_ in TIMES])
def test_truths_and_times_are_keys_as_the_command_writes_them(command, tmp_path, type, counts, texts):
    values = pa.array(counts, type if type == pa.bool_() else pa.int32() if type.bit_width == 32 else pa.int64())
    keys = pa.chunked_array([pa.concat_arrays([values.cast(type), pa.nulls(1, type)])])
    table = pa.table({"k": keys, "v": [1, 2, 4]})
    for start in range(3):
        found = fathom.aggregate(table.slice(start), by="k", values="v", stats="sum", on_error="skip")
        assert dict(found) == dict(list(zip(texts, [1, 2]))[start:]) and found.rejected == 1
    packed = pa.table({"k": keys.dictionary_encode(), "v": [1, 2, 4]})
    both = fathom.aggregate(packed, by=["k", "v"], values=[])
    assert sorted(row["k"] for row in both.to_dicts()) == sorted([*texts, ""])
    chosen = fathom.aggregate(table, by="k", values="v", stats="sum", where=f'k == "{texts[1]}"')
    assert dict(chosen) == {texts[1]: 2}
    # As the command, where it was built to read such files.
    file = tmp_path / "table.arrow"
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    try:
        said = command("aggregate", "--by", "k", "--value", "v", "--where", "k is not null", file)
    except AssertionError as refused:
        assert "--features tables" in str(refused)
    else:
        assert said == fathom.aggregate(table, by="k", values="v", where="k is not null").format("csv")


CONDITIONS = [
    "v > 0.3",
    "v is null || n < 0 && g in (1, 2, 3)",
    'k =~ "^abc.*z" && !(v * 2 <= 1)',
    'k < "abcdefg" && k != "abc"',
    "n - g >= 0 && round(v, 1) != 0.5",
    "$4 > 0 && $2 == -5",
    "g == 1000",
]


@pytest.mark.parametrize("where", CONDITIONS)
def test_a_condition_takes_the_rows_that_it_takes_of_text(frame, tmp_path, where):
    text = text_of(frame, ["k", "g", "v", "n"])
    ask = dict(by="k", values="v", stats=["count", "sum"], where=where)
    expected = fathom.aggregate(text, header=True, **ask)
    file = tmp_path / "frame.parquet"
    frame.write_parquet(file)
    for table in [frame, frame.to_arrow(), frame.with_columns(pl.col("k").cast(pl.Categorical)), file]:
        found = fathom.aggregate(table, **ask)
        assert found.format("csv") == expected.format("csv")
        assert found.records == expected.records


SHAPES = [
    dict(by="g:7"),
    dict(by=["n:100000000000000000", "k"], trim=True),
    dict(by="v:0.25", where="v is not null && v < 1000000", ignore_case=True),
    dict(by="k", trim=True, ignore_case=True, shares=True, total=True, sort="sum", top=9),
]


@pytest.mark.parametrize("asked", SHAPES)
def test_keys_have_the_shape_of_those_of_text(frame, asked):
    frame = frame.with_columns(pl.col("k").str.slice(0, 2).str.to_titlecase() + " ")
    asked = dict(values=["n", "v"], stats=["count", "sum"], **asked)
    expected = fathom.aggregate(text_of(frame, ["k", "g", "v", "n"]), header=True, **asked)
    for table in [frame, frame.to_arrow(), frame.with_columns(pl.col("k").cast(pl.Categorical))]:
        assert fathom.aggregate(table, **asked).format("csv") == expected.format("csv")


def test_what_is_in_no_bucket_is_refused_by_its_row():
    times = pa.array([0, 3600, 7199, None], pa.timestamp("s", "UTC"))
    table = pa.table({"t": times, "k": ["a", "a", "b", "7"], "v": [1, 2, 4, 8]})
    found = fathom.aggregate(table, by=["t:1h", "k"], values="v", stats="sum")
    assert [tuple(row) for row in found] == [
        ("", "7", 8), ("1970-01-01T00:00:00Z", "a", 1), ("1970-01-01T01:00:00Z", "a", 2), ("1970-01-01T01:00:00Z", "b", 4),
    ]  # fmt: skip
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(table, by=["t:1h", "k:5"], values="v")
    assert (caught.value.line, caught.value.field, caught.value.text) == (1, "k", b"a")
    found = fathom.aggregate(table, by=["t:1h", "k:5"], values="v", on_error="skip", stats="sum")
    assert (list(found), found.rejected) == ([("", "5", 8)], 3)
    with pytest.raises(TypeError, match="where text, integers, truths or times .in buckets any numbers. are needed"):
        fathom.aggregate(pa.table({"k": [0.5], "v": [1]}), by="k", values="v")


def test_numbers_of_any_type_have_buckets_of_either_kind(tmp_path):
    for seconds in [pa.array([0.0, 90000.5]), pa.array([Decimal("0.0"), Decimal("90000.5")]), pa.array([0, 90000])]:
        table = pa.table({"k": seconds, "v": [1, 2]})
        days = fathom.aggregate(table, by="k:1d", values="v", stats="sum")
        assert dict(days) == {"1970-01-01": 1, "1970-01-02": 2}
        assert dict(fathom.aggregate(table, by="k:100000", values="v", stats="sum")) == {"0": 3}


def test_columns_of_other_meanings_are_refused_and_those_of_nothing_are_missing():
    periods = pd.DataFrame({"k": pd.period_range("2026-01", periods=2, freq="M"), "v": [1, 2]})
    with pytest.raises(TypeError, match='column "k" is of the extension type "pandas.period"'):
        fathom.aggregate(periods, by="k:1mo", values="v")
    with pytest.raises(TypeError, match='"v" is of the extension type "arrow.bool8"'):
        fathom.aggregate(pa.table({"k": ["a"], "v": pa.array([1], pa.bool8())}), by="k", values="v")
    opaque = pa.array([b"\x80\x00"], pa.opaque(pa.binary(), "bignum", "DuckDB"))
    with pytest.raises(TypeError, match='"k" is of the extension type "arrow.opaque", which is not known here: cast it'):
        fathom.aggregate(pa.table({"k": opaque, "v": [1]}), by="k", values="v")
    texts = pa.table({"k": pa.array(['{"a": 1}'], pa.json_()), "v": [1]})
    assert dict(fathom.aggregate(texts, by="k", values="v", stats="sum")) == {'{"a": 1}': 1}
    for missing in [pa.nulls(2), pa.nulls(2).dictionary_encode()]:
        nothing = pa.table({"k": ["a", "b"], "n": missing, "v": [1, 2]})
        found = fathom.aggregate(nothing, by=["n", "k"], values=["n", "v"], stats=["rows", "sum"], where="n is null")
        assert list(found) == [("", "a", 1, 0, 1, 1), ("", "b", 1, 0, 1, 2)]
        with pytest.raises(fathom.DataError, match="the key is empty"):
            fathom.aggregate(nothing, by="n", values="v")


def test_numbers_of_a_dictionary_have_buckets():
    table = pa.table({"k": pa.array([1.5, 20.0, 1.5]).dictionary_encode(), "v": [1, 2, 4]})
    assert dict(fathom.aggregate(table, by="k:10", values="v", stats="sum")) == {"0": 5, "20": 2}


def test_a_column_whose_name_ends_in_a_width_is_chosen_by_its_place():
    table = pa.table({"load:1m": ["a", "b"], "v": [1, 2]})
    assert dict(fathom.aggregate(table, by=1, values="v", stats="sum")) == {"a": 1, "b": 2}
    with pytest.raises(KeyError, match="no column .*load.* is a width of buckets: choose it by its place"):
        fathom.aggregate(table, by="load:1m", values="v")


def test_a_table_and_a_text_stand_side_by_side(frame):
    text = text_of(frame, ["k", "v"])
    asked = dict(by="k", values="v", stats=["count", "sum"], compare=True)
    found = fathom.aggregate([frame, text], **asked)
    assert found.format("csv") == fathom.aggregate([text, text], **asked).format("csv")
    assert set(found["sum_change"]) <= {0, 0.0} and len(found) > 20


@pytest.mark.parametrize("sort", ["k", "v_sum", "sum_change:asc"])
def test_the_names_of_a_comparison_are_those_of_its_first_side(sort):
    one, other = pa.table({"k": ["a", "b"], "v": [1, 2]}), pa.table({"h": ["b", "c"], "m": [5, 7]})
    for second in [other, b"h;m\nb;5\nc;7\n"]:
        found = fathom.aggregate([one, second], by=1, values=2, stats="sum", compare=True, sort=sort)
        assert found.columns == ["k", "sum_before", "sum_after", "sum_change", "sum_change%"]
        assert sorted(found["sum_change"]) == [-1, 3, 7]
    with pytest.raises(ValueError, match='nothing is called "h"; there is k'):
        fathom.aggregate([one, other], by=1, values=2, compare=True, sort="h")


def test_rows_are_counted_without_a_value(frame):
    expected = fathom.aggregate(text_of(frame, ["k", "g"]), by="k", values=[], where="g > 100")
    found = fathom.aggregate(frame, by="k", values=[], where="g > 100")
    assert found.columns == ["k", "count"] and found.format("csv") == expected.format("csv")
    assert fathom.aggregate(frame, by="k", values=[]).records == len(frame)


def test_a_condition_on_arrow_says_what_is_wrong_with_it(frame):
    with pytest.raises(KeyError, match="no column \"w\"|no column 'w'"):
        fathom.aggregate(frame, by="k", values="v", where="w > 1")
    with pytest.raises(ValueError, match="where: a text is no number"):
        fathom.aggregate(frame, by="k", values="v", where='v + "x" > 1')
    with pytest.raises(fathom.DataError, match="not a decimal number") as caught:
        fathom.aggregate(frame, by="g", values="v", where="k > 1")
    assert (caught.value.line, caught.value.field) == (1, "k")
    lists = pl.DataFrame({"k": ["a"], "v": [1], "l": [[1]]})
    with pytest.raises(TypeError, match="column \"l\" has lists, where"):
        fathom.aggregate(lists, by="k", values="v", where="l is null")
    numbers = pa.table({"k": ["a"], "v": pa.array([5]).dictionary_encode()})
    with pytest.raises(TypeError, match="column \"v\" has a dictionary, where numbers"):
        fathom.aggregate(numbers, by="k", values="v")
    exact = pa.table({"k": ["a", "b"], "v": [1, 2], "d": pa.array([Decimal("0.10"), Decimal("-3.05")])})
    assert dict(fathom.aggregate(exact, by="k", values="v", stats="sum", where="d == 0.1")) == {"a": 1}
    assert dict(fathom.aggregate(exact, by="k", values="v", stats="sum", where='d == "-3.05"')) == {"b": 2}
    nan = pl.DataFrame({"k": ["a", "b"], "v": [1, 2], "d": [0.5, float("nan")]})
    with pytest.raises(fathom.DataError, match='"NaN"'):
        fathom.aggregate(nan, by="k", values="v", where="d > 0")
    found = fathom.aggregate(nan, by="k", values="v", where="d is null", null_values="NaN", stats="sum")
    assert dict(found) == {"b": 2}


def test_streams_are_read_batch_by_batch_and_what_they_raise_arrives():
    schema = pa.schema([("k", pa.string()), ("v", pa.int64())])

    def batches(count, fail):
        for number in range(count):
            yield pa.record_batch({"k": ["a", "b"], "v": [number, 1]}, schema=schema)
        if fail:
            raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(schema, batches(1000, False))
    found = fathom.aggregate(reader, by="k", values="v", stats="sum", threads=2)
    assert dict(found) == {"a": 499500, "b": 1000}
    reader = pa.RecordBatchReader.from_batches(schema, batches(10, True))
    with pytest.raises(OSError, match="the disk is gone$"):
        fathom.aggregate(reader, by="k", values="v")


def test_a_stream_that_someone_has_taken_is_an_error():
    class Taken:
        def __init__(self, take):
            self.capsule = pa.table({"k": ["a"], "v": [1]}).__arrow_c_stream__()
            take(self)

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    for take in [lambda one: pa.RecordBatchReader.from_stream(one).read_all(), lambda one: fathom.aggregate(one, by="k", values="v")]:
        with pytest.raises(ValueError, match="a released stream"):
            fathom.aggregate(Taken(take), by="k", values="v")


def test_rows_that_are_missing_as_a_whole_are_refused():
    rows = pl.Series([{"k": "a", "v": 1}, {"k": "b", "v": 2}, None, {"k": "c", "v": 3}])
    with pytest.raises(ValueError, match="row 3 is missing as a whole"):
        fathom.aggregate(rows, by="k", values="v")
    assert fathom.aggregate(rows.drop_nulls(), by="k", values="v").records == 3
    assert fathom.aggregate(rows[:2], by="k", values="v").records == 2


def moved(array, by=1):
    """The same, with buffers that begin so many bytes later."""
    if isinstance(array, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(moved(array.indices, by), moved(array.dictionary, by))
    buffers = [buffer and pa.py_buffer(b"." * by + buffer.to_pybytes()).slice(by) for buffer in array.buffers()]
    return pa.Array.from_buffers(array.type, len(array), buffers)


def test_buffers_that_are_not_aligned_are_refused():
    keys, values = pa.array(["a", "b" * 20]), pa.array([1, 2])
    for array in [keys, keys.cast(pa.large_string()), keys.dictionary_encode(), values, pa.array([1, 2], pa.int16())]:
        with pytest.raises(ValueError, match="column 1 is not aligned"):
            fathom.aggregate(pa.table({"k": moved(array), "v": values}), by="k", values="v")
    for kind in [pa.int32(), pa.float32(), pa.float64()]:
        with pytest.raises(ValueError, match="column 2 is not aligned"):
            fathom.aggregate(pa.table({"k": keys, "v": moved(values.cast(kind))}), by="k", values="v")
    # What is read byte by byte may begin anywhere.
    for array in [moved(values.cast(pa.int8())), moved(values.cast(pa.decimal128(19, 0)))]:
        assert fathom.aggregate(pa.table({"k": keys, "v": array}), by="k", values="v", stats="sum")["sum"] == [1, 2]
    assert fathom.aggregate(pa.table({"k": moved(keys.cast(pa.string_view())), "v": values}), by="k", values="v").records == 2


def test_results_enter_every_library_by_arrow():
    groups = table = fathom.aggregate(b"a;1.5\nb;\xc3\xa9\n", on_error="skip", stats=["count", "mean", "stddev"])
    expected = [{"key": "a", "count": 1, "mean": 1.5, "stddev": None}]
    assert pl.DataFrame(table).to_dicts() == expected == table.to_polars().to_dicts()
    assert pa.table(table).to_pylist() == expected == table.to_arrow().to_pylist()
    assert pa.schema(table) == table.to_arrow().schema
    assert duckdb.sql("select key, count, mean from groups").fetchall() == [("a", 1, 1.5)]
    # As docs/python.md has it.
    assert duckdb.sql('from "table"').fetchall() == [("a", 1, 1.5, None)]
    pandas = table.to_pandas()
    assert isinstance(pandas, pd.DataFrame) and list(pandas.columns) == table.columns
    assert pandas["mean"].tolist() == [1.5]
    # The result of one is the input of the next.
    assert dict(fathom.aggregate(table, by="key", values="count", stats="sum")) == {"a": 1}
    assert fathom.aggregate(pandas, by="key", values="mean", stats="sum")["sum"] == [1.5]
    assert fathom.aggregate(duckdb.sql("select 'x' k, 1 v"), by="k", values="v", stats="max")["max"] == [1]


def test_integers_stay_integers_in_pandas():
    text = b"k,v,w\na,9007199254740993,1.5\nb,,\n"
    ask = dict(by="k", values=["v", "w"], stats=["max", "count"])
    frame = fathom.aggregate(text, **ask).to_pandas()
    assert frame["v_max"].dtype == "Int64" and frame["v_max"][0] == 9007199254740993 and frame["v_max"].isna()[1]
    types = {"v_count": "int64", "w_max": "float64", "w_count": "int64"}
    assert {name: str(frame[name].dtype) for name in types} == types
    assert frame["w_max"][0] == 1.5 and frame["w_max"].isna()[1]
    # Those that 64 bits do not hold are doubles, as in Arrow, unless every digit is asked for.
    large = fathom.aggregate(b"k,v\na,18446744073709551615\nb,\n", by="k", values="v", stats=["max"])
    assert str(large.to_pandas()["max"].dtype) == "float64" and large.to_pandas()["max"][0] == 2.0**64
    assert large.to_pandas()["max"].isna()[1]
    assert large.to_arrow()["max"].to_pylist() == [2.0**64, None] == large.to_polars()["max"].to_list()
    assert large.to_arrow(exact=True)["max"].to_pylist() == [2**64 - 1, None]
    larger = fathom.aggregate(b"k,v\na,1e400\nb,\n", by="k", values="v", stats=["max"])
    assert larger["max"] == [10**400, None] and larger.to_pandas()["max"][0] == float("inf")
    # Also where there are no rows.
    empty = fathom.aggregate(text, where='k == "z"', **ask)
    arrow = empty.to_arrow().schema
    assert all(str(empty.to_pandas()[name].dtype) == str(arrow.field(name).type).replace("double", "float64") for name in arrow.names[1:])
    nothing = fathom.aggregate(b"k,t\na,\n", by="k", texts="t", stats="mode", delimiter=",").to_pandas()
    assert empty.to_pandas()["k"].dtype == nothing["mode"].dtype == frame["k"].dtype
    assert len(empty.to_pandas()) == 0 and list(empty.to_pandas().columns) == empty.columns


def test_the_tables_that_the_command_writes_are_the_modules(command, tmp_path, frame):
    # Squares of larger ones are beyond doubles, of which the module makes infinities.
    frame = frame.filter(pl.col("v").is_null() | (pl.col("v").abs() < 1e100))
    file = tmp_path / "frame.csv"
    file.write_bytes(text_of(frame, ["k", "g", "v", "n"]))
    stats = [*SUMS, *VALUES[:-1], "histogram"]
    words = ["--by", "g,k", "--value", "v,n", "--text", "k", "--stats", ",".join(stats), file]
    table = fathom.aggregate(file, by=["g", "k"], values=["v", "n"], texts="k", stats=stats).to_arrow()
    try:
        command("aggregate", "--format", "parquet", "-o", tmp_path / "out.parquet", *words)
    except AssertionError as refused:
        assert "built without the feature `tables`" in str(refused)
        pytest.skip("the command was built without the feature `tables`")
    command("aggregate", "--format", "arrow", "-o", tmp_path / "out.arrow", *words)
    from pyarrow import feather, parquet

    for found in [parquet.read_table(tmp_path / "out.parquet"), feather.read_table(tmp_path / "out.arrow")]:
        assert found.schema.remove_metadata() == table.schema
        assert found.combine_chunks().equals(table.combine_chunks())
    file.write_bytes(b"a;1e300\na;-1e300\n")
    with pytest.raises(AssertionError, match="a number beyond those of doubles"):
        command("aggregate", "--format", "parquet", "--stats", "variance", file)


def test_every_digit_leaves_as_decimals():
    table = fathom.aggregate(b"a;0.1\na;12345678901234567890.25\n", stats=["sum", "min"])
    assert table.to_arrow(exact=True).to_pylist() == [
        {"key": "a", "sum": Decimal("12345678901234567890.35"), "min": Decimal("0.1")}
    ]
    assert table.to_polars(exact=True)["sum"].to_list() == [Decimal("12345678901234567890.35")]
    with pytest.raises(ValueError, match='"sum" has a number of more than 38 digits'):
        fathom.aggregate(b"a;1e40\na;1e-3\n", stats=["min", "sum"]).to_arrow(exact=True)


def test_keys_that_are_no_text_are_bytes():
    table = fathom.aggregate(b"a\xff;1\n", stats="count")
    assert table.to_dicts() == [{"key": b"a\xff", "count": 1}]
    assert table.to_arrow().schema.field("key").type == pa.large_binary()


def test_thousands_of_results_are_released():
    import gc
    import resource

    table = fathom.aggregate(b"".join(b"%d;1.5\n" % n for n in range(20000)))
    for turn in range(60):
        pa.table(table), pl.DataFrame(table), table.__arrow_c_stream__(), table.__arrow_c_schema__()
        if turn == 20:
            gc.collect()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_tables_in_files_are_read_by_pyarrow(tmp_path, frame):
    path, arrow = tmp_path / "frame.parquet", tmp_path / "frame.arrow"
    frame.write_parquet(path)
    frame.write_ipc(arrow)
    question = {"by": ["g", "k"], "values": ["v", "n"], "stats": SUMS}
    wanted = fathom.aggregate(frame, **question).to_dicts(exact=True)
    for file in (path, str(path), arrow):
        assert fathom.aggregate(file, **question).to_dicts(exact=True) == wanted
    twice = fathom.aggregate([path, path], by="g", values="n", stats="count").to_dicts()
    assert sum(row["n_count"] if "n_count" in row else row["count"] for row in twice) == 2 * len(frame)
    with pytest.raises(KeyError, match="no column 'x'|no column \"x\""):
        fathom.aggregate(path, by="x", values="v")
    with pytest.raises(ValueError, match="all Parquet, all Arrow, or all text"):
        fathom.aggregate([path, arrow], by="g", values="v")
    pl.DataFrame({"k": ["a"], "v": [float("nan")]}).write_parquet(path)
    with pytest.raises(fathom.DataError) as caught:
        fathom.aggregate(path, by="k", values="v")
    assert (caught.value.path, caught.value.line) == (str(path), 1)
    text = tmp_path / "text.csv"
    text.write_text("PAR,1\nx,2\n")
    assert len(fathom.aggregate(text, by=1, values=2, header=False).to_dicts()) == 2


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_tables_are_known_in_all_forms_of_input(tmp_path, monkeypatch, kind):
    from pyarrow import feather, ipc, parquet

    table = pa.table({"k": ["a", "b", "a"], "v": [1, 20, 300]})
    file = tmp_path / "table"
    if kind == "stream":
        with ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
    else:
        (parquet.write_table if kind == "parquet" else feather.write_feather)(table, file)
    data, asked = file.read_bytes(), dict(by="k", values="v", stats="sum")
    monkeypatch.chdir(tmp_path)
    with open(file, "rb") as opened:
        for given in [file, "table", data, bytearray(data), io.BytesIO(data), opened, iter([file])]:
            assert dict(fathom.aggregate(given, **asked)) == {"a": 301, "b": 20}
    for several in [[file, str(file)], (path for path in [file, file]), [data, io.BytesIO(data)]]:
        assert dict(fathom.aggregate(several, **asked)) == {"a": 602, "b": 40}
    both = fathom.aggregate([file, b"k,v\na,1\n"], compare=True, **asked)
    assert both["sum_before"] == [301, 20]
    cut = tmp_path / "cut"
    cut.write_bytes(data[: len(data) * 2 // 3])
    for given, name in [(cut, str(cut)), (cut.read_bytes(), "<bytes>"), (io.BytesIO(cut.read_bytes()), "<stream>")]:
        with pytest.raises(fathom.DataError, match=name) as caught:
            fathom.aggregate(given, **asked)
        assert caught.value.path == name


def test_columns_that_a_later_file_lacks_or_has_otherwise_are_no_nulls_and_no_casts(tmp_path):
    from pyarrow import feather, parquet

    first = {"k": ["a"], "v": pa.array([1.5], pa.float32()), "n": pa.array([1], pa.int16())}
    asked = dict(by="k", values=["v", "n"], stats="sum")
    for kind, write in [("parquet", parquet.write_table), ("arrow", feather.write_feather)]:

        def both(asked=asked, first=first, **changed):
            files = [tmp_path / f"first.{kind}", tmp_path / f"second.{kind}"]
            columns = {name: column for name, column in {**first, **changed}.items() if column is not None}
            for file, table in zip(files, [first, columns]):
                write(pa.table(table), file)
            return fathom.aggregate(files, **asked).to_dicts()

        for same in [{}, {"n": pa.array([1])}, {"k": pa.array(["a"], pa.large_string())}, {"more": [1]}]:
            assert both(**same) == [{"k": "a", "v_sum": 3.0, "n_sum": 2}]
        assert both(k=pa.array(["a"]).dictionary_encode(), v=pa.nulls(1)) == [{"k": "a", "v_sum": 1.5, "n_sum": 2}]
        with pytest.raises(KeyError, match=f"second.{kind}: there is no column 'v'; there are: k, n"):
            both(v=None)
        with pytest.raises(ValueError, match=f"second.{kind}: column 'v' has double, and float in .*first.{kind}"):
            both(v=[0.1])
        with pytest.raises(ValueError, match=f"second.{kind}: column 'k' has integers, and texts in"):
            both(k=[1])
        places = dict(by=1, values=2, stats="sum")
        assert both(places) == [{"k": "a", "sum": 3.0}]
        with pytest.raises(ValueError, match=f"second.{kind}: files of one call have the same columns"):
            both(places, k=None, more=["a"])


def file_of(kind, file, table):
    from pyarrow import feather, ipc, parquet

    if kind != "stream":
        (parquet.write_table if kind == "parquet" else feather.write_feather)(table, file)
        return
    with ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_what_a_later_file_has_wider_keeps_every_value_in_any_order(tmp_path, kind):
    many, most = [str(number) for number in range(300)], 2**64 - 1
    few = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array(["few"]))
    files = {
        "few": (few, pa.array([-5, 100], pa.int8()), {"few": 95}, {"-5", "100"}),
        "text": (pa.array(["text"]), pa.array([70000]), {"text": 70000}, {"70000"}),
        "many": (pa.array(many).dictionary_encode(), pa.array([most] * 300, pa.uint64()), dict.fromkeys(many, most), {str(most)}),
        "none": (pa.array(["none"], pa.large_string()), pa.nulls(1), {"none": 0}, {""}),
    }
    for name, (keys, values, *_) in files.items():
        file_of(kind, tmp_path / name, pa.table({name: keys, "k": keys, "v": values}))
    for names in itertools.chain.from_iterable(itertools.permutations(files, length) for length in (1, 2, 3, 4)):
        paths = [tmp_path / name for name in names]
        sums = dict(fathom.aggregate(paths, by="k", values="v", stats="sum"))
        assert sums == {key: value for name in names for key, value in files[name][2].items()}
        rows = fathom.aggregate(paths, by=["v", "k"], values=[]).to_dicts()
        assert {row["v"] for row in rows} == set().union(*(files[name][3] for name in names))


def test_files_of_polars_and_of_pandas_are_read_together(tmp_path):
    columns = {"k": ["a"], "b": [b"a"], "c": ["a"], "v": [1]}
    frame = pl.DataFrame(columns).with_columns(pl.col("c").cast(pl.Categorical))
    frame.write_ipc(tmp_path / "polars")
    file_of("arrow", tmp_path / "pandas", pa.table(columns))
    for names in [["polars", "pandas"], ["pandas", "polars"], ["polars", "polars"]]:
        files = [tmp_path / name for name in names]
        for by in "kb":
            assert dict(fathom.aggregate(files, by=by, values="v", stats="sum")) == {"a": 2}
        if len(set(names)) > 1:
            with pytest.raises(ValueError, match="polars: column 'c' has a dictionary of type string_view"):
                fathom.aggregate(files, by="c", values="v")


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_what_is_damaged_in_a_file_is_bad_data_in_one_line(tmp_path, kind):
    # As a whole, so that what is damaged lies in a page, or among the places of its texts.
    table = pa.table({"k": [f"key {row}" for row in range(2000)], "v": [1] * 2000})
    file = tmp_path / "damaged"
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, file, use_dictionary=False, compression="snappy")
    else:
        with (pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file)(file, table.schema) as writer:
            writer.write_table(table)
    data = bytearray(file.read_bytes())
    data[3000:3400] = b"\xff" * 400
    file.write_bytes(data)
    with pytest.raises(fathom.DataError, match="^[^\n]*damaged: Invalid: [^\n]*$") as caught:
        fathom.aggregate(file, by="k", values="v")
    assert "Python" not in str(caught.value) and caught.value.path == str(file)


@pytest.mark.parametrize("kind", ["arrow", "stream"])
def test_a_name_that_is_no_text_is_bad_data(tmp_path, kind):
    table, file = pa.table({"k": ["a"], "v": [1]}), tmp_path / "damaged"
    with (pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file)(file, table.schema) as writer:
        writer.write_table(table)
    data = file.read_bytes()
    assert (name := b"\1\0\0\0k\0") in data
    file.write_bytes(data.replace(name, b"\1\0\0\0\xff\0"))
    with pytest.raises(fathom.DataError, match="damaged: "):
        fathom.aggregate(file, by="k", values="v")


def test_a_stream_has_its_end_mark_and_none_behind_it(tmp_path):
    # The last number is as the end mark is.
    table = pa.table({"k": ["a", "a"], "v": [1, 2**32 - 1]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    whole, file = sink.getvalue().to_pybytes(), tmp_path / "stream"
    assert whole.endswith(b"\xff\xff\xff\xff\0\0\0\0" * 2)
    for data, wrong in [
        (whole, None),
        (whole + b"\0" * 8, None),
        (whole[:-8], "it has no end mark"),
        (whole[:-4], "Corrupted metadata length"),
        (whole + whole, f"a second stream follows at byte {len(whole)}"),
    ]:
        file.write_bytes(data)
        for given in (data, file, io.BytesIO(data)):
            if wrong is None:
                assert dict(fathom.aggregate(given, by="k", values="v", stats="count")) == {"a": 2}
            else:
                with pytest.raises(fathom.DataError, match=wrong):
                    fathom.aggregate(given, by="k", values="v", stats="count")


@pytest.mark.parametrize("kind", ["arrow", "stream"])
def test_what_is_damaged_is_found_before_it_is_cast_to_what_other_files_have(tmp_path, kind):
    file_of(kind, tmp_path / "sound", pa.table({"k": ["a", "b"]}))
    # Text 100 of one; 20 bytes 1 GiB behind the only buffer.
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 100], pa.int8()), pa.array(["a"]), safe=False)
    view = (20).to_bytes(4, "little") + b"abcd" + bytes(4) + (1 << 30).to_bytes(4, "little")
    views = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(view * 2), pa.py_buffer(b"abcd" * 5)])
    for damaged in (keys, views):
        table = pa.Table.from_arrays([damaged], names=["k"])
        with (pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file)(tmp_path / "damaged", table.schema) as writer:
            writer.write_table(table)
        for names in itertools.permutations(["sound", "damaged"]):
            with pytest.raises(fathom.DataError, match="Invalid: "):
                fathom.aggregate([tmp_path / name for name in names], by="k", values=[])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_bytes_of_one_width_are_read_with_those_of_another(tmp_path, kind):
    files = {"any": pa.binary(), "ab": pa.binary(2), "abcd": pa.binary(4)}
    for name, type in files.items():
        file_of(kind, tmp_path / name, pa.table({"k": pa.array([name.encode()], type)}))
    for names in itertools.permutations(files, 2):
        assert dict(fathom.aggregate([tmp_path / name for name in names], by="k", values=[])) == dict.fromkeys(names, 1)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_two_columns_of_one_name_are_said(tmp_path, kind):
    file_of(kind, tmp_path / "two", pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["k", "v", "v"]))
    assert dict(fathom.aggregate(tmp_path / "two", by="k", values=[])) == {"a": 1}
    with pytest.raises(KeyError, match='two: there are two columns "v"'):
        fathom.aggregate(tmp_path / "two", by="k", values="v")
    if kind == "stream":
        assert dict(fathom.aggregate(tmp_path / "two", by=1, values=3, stats="sum")) == {"a": 2}
    else:
        with pytest.raises(KeyError, match='two: there are two columns "v"'):
            fathom.aggregate(tmp_path / "two", by=1, values=3)


def test_a_dictionary_of_a_dictionary_is_refused_and_not_read_as_its_indices():
    inner = pa.array(["x", "y"]).dictionary_encode()
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), inner)
    with pytest.raises(TypeError, match='column "k" has a dictionary of a dictionary, where text'):
        fathom.aggregate(pa.table({"k": keys, "v": [1, 2]}), by="k", values="v")


def test_what_begins_as_a_table_alone_is_text():
    columns = pd.DataFrame({"seekable": ["a"], "tell": [1]})
    assert fathom.aggregate(columns, by="seekable", values="tell").records == 1
    for text in [b"PAR1;1\n", b"\xff\xff\xff\xff;1.0\n", b"ARROW1;1\n"]:
        assert fathom.aggregate(text).records == 1
        assert fathom.aggregate(io.BytesIO(text)).records == 1
    with pytest.raises(fathom.DataError, match="this is a Parquet file, not text: fathom.aggregate reads it by its path or as bytes"):
        fathom.aggregate(Unseekable(b"PAR1\x15\x04\x15"))


class Unseekable(io.BytesIO):
    def seekable(self):
        return False


def test_without_pyarrow_a_table_in_a_file_is_an_error_that_names_it(tmp_path, frame, monkeypatch):
    path = tmp_path / "frame.parquet"
    frame.write_parquet(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="frame.parquet: tables in files are read by pyarrow"):
        fathom.aggregate(path, by="g", values="v")


BY_DEFAULT = [
    {},
    dict(values="w"),
    dict(values=[]),
    dict(by="k"),
    dict(by="k", where="w > 1", stats="sum"),
    dict(where="$3 > 1"),
]


@pytest.mark.parametrize("asked", BY_DEFAULT)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_columns_by_default_are_those_of_the_whole_file(tmp_path, kind, asked):
    table = pa.table({"k": ["a", "b", "a"], "v": [1, 20, 300], "w": [1, 2, 3]})
    file = tmp_path / f"table.{kind}"
    from pyarrow import feather, parquet

    (parquet.write_table if kind == "parquet" else feather.write_feather)(table, file)
    expected = fathom.aggregate(text_of(pl.from_arrow(table), table.column_names), header=True, **asked)
    for found in [fathom.aggregate(file, **asked), fathom.aggregate(table, **asked)]:
        assert found.format("csv") == expected.format("csv")
