"""``aggregate``: from the words of Python to those of the engine."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping

from fathom import _native
from fathom._files import tables
from fathom._pipe import readable
from fathom._table import Table


class _Plan:
    """What the engine is asked, spelled out; read by the native half, attribute by attribute."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def _list(value) -> list:
    if value is None:
        return []
    is_one = isinstance(value, (str, bytes, bytearray, memoryview)) or is_whole(value)
    return [value] if is_one or not hasattr(value, "__iter__") else list(value)


def _once(options: dict) -> dict:
    """The same options, of columns lists in place of iterators, which can be read once."""
    columns = {name: options[name] for name in ("by", "values", "texts")}
    return options | {name: list(value) for name, value in columns.items() if hasattr(value, "__next__")}


def _text(name: str, value) -> str:
    """A text that an option has."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: {value!r} is no Unicode text: half of a pair of surrogates stands alone") from None
    return value


def _places(name: str, value) -> list:
    """The columns that an option names."""
    columns = _list(value)
    for at, column in enumerate(columns):
        if isinstance(column, str):
            _text(name, column)
        elif not is_whole(column):
            raise TypeError(f"{name}: a column is a name or a place, not {column!r}")
        else:
            columns[at] = operator.index(column)
            if not 1 <= columns[at] < 2**63:
                raise ValueError(f"{name}: places of columns count from 1, and {column} is none")
    return columns


def _texts(name: str, value) -> list:
    """The texts that an option has."""
    texts = _list(value)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} is a text or several, and {text!r} is none")
        _text(name, text)
    return texts


# Truths of Python, and of NumPy before 2 and since.
_TRUTHS = ("bool", "bool_")


def truth(name: str, value) -> bool:
    """Whether or not, by a truth of Python or NumPy: a word would be true whatever it says."""
    if type(value).__name__ not in _TRUTHS:
        raise TypeError(f"{name} is True or False, not {value!r}")
    return bool(value)


def _text_or_truth(name: str, value):
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ not in _TRUTHS:
        raise TypeError(f"{name} is a text or whether there is one, not {value!r}")
    return bool(value)


def is_whole(value) -> bool:
    """Whether it is an integer, of Python or another library; truths are none."""
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def whole(name: str, value, least: int, most: int = 2**63 - 1) -> None:
    """Refuses what is no such number."""
    if value is None:
        return
    if not is_whole(value):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {least} to {most}, not {value}")


MOST_THREADS = 2**16 - 1

STATS = ("min", "mean", "max")


def _is_input(one) -> bool:
    """Whether it is a path, bytes, something with read(), or has Arrow's stream."""
    is_text = isinstance(one, (str, bytes, bytearray, memoryview, os.PathLike)) or hasattr(one, "read")
    return is_text or hasattr(one, "__arrow_c_stream__")


def _inputs(data) -> list:
    """One input or several: paths, bytes, readers; or one object with Arrow's stream."""
    is_one = _is_input(data) or not hasattr(data, "__iter__") or isinstance(data, Mapping)
    inputs = [data] if is_one else list(data)
    for one in inputs:
        if not _is_input(one):
            kinds = "a path, bytes or something with read(), or several of these, or a table that Arrow knows"
            raise TypeError(f"what is read is {kinds}, not {type(one).__name__}")
    if not inputs:
        raise ValueError("there is nothing to read: the list of inputs is empty")
    return [bytes(one) if isinstance(one, (bytearray, memoryview)) else one for one in inputs]


def _sides(data) -> list:
    """Two inputs to compare."""
    sides = list(data) if isinstance(data, (list, tuple)) else []
    if len(sides) != 2:
        raise ValueError("compare= takes a list of two inputs: the one from before and the one from after")
    if any(isinstance(side, (list, tuple)) for side in sides):
        raise ValueError("compare= takes one input a side, and not several")
    return [one for side in sides for one in _inputs(side)]


def _columns(by, values, words: list) -> tuple[list, list]:
    """The columns of keys, and those of values and texts; none of these where records are counted."""
    counts = values is not None and not _list(values) and not words
    keys = _places("by", by) or [1]
    for key in keys:
        _native.part(key)  # Refuses a place that is none before the width of its buckets.
    return keys, _places("values", values) + words or ([] if counts else [2])


def _nulls(null, values: list) -> list:
    """What a missing value means in each column of values."""
    if not isinstance(null, (str, dict)):
        raise TypeError(f"null is a word or a dict of columns to words, not {null!r}")
    for word in [null] if isinstance(null, str) else null.values():
        _text("null", word)
    if isinstance(null, str):
        return [null] * len(values)
    unknown = set(null) - set(values)
    if unknown:
        raise ValueError(f"null: no values= and no texts= names {sorted(map(repr, unknown))}")
    return [null.get(value, "skip") for value in values]


def _byte(delimiter: str | None) -> int | None:
    if delimiter is None:
        return None
    code = _text("delimiter", delimiter).encode()
    if len(code) != 1 or code.isdigit() or code in b'"\r\n.+-':
        raise ValueError(f"delimiter: {delimiter!r} is not one byte, or part of numbers or quotes")
    return code[0]


def aggregate(
    data,
    *,
    by=None,
    values=None,
    texts=None,
    where: str | None = None,
    trim: bool = False,
    ignore_case: bool = False,
    stats=STATS,
    quantiles: str = "linear",
    approx: str | bool = False,
    format_in: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    quotes: bool | None = None,
    decimal_comma: bool | None = None,
    null="skip",
    null_values=(),
    ragged: str = "fail",
    on_error: str = "fail",
    rejects=None,
    sort=(),
    reverse: bool = False,
    top: int | None = None,
    shares: bool = False,
    total: str | bool | None = False,
    compare: bool = False,
    threads: int | None = None,
    chunk_bytes: int | None = None,
    memory_limit: int | None = None,
    progress=None,
) -> Table:
    """Statistics of the values of each key, exact from the first digit to the last.

    data is a path, bytes, an object with a method ``read``, several of these, or any table with
    ``__arrow_c_stream__`` (Polars, pyarrow, pandas, DuckDB). gzip and Zstandard are recognised, and
    Parquet and Arrow files, which pyarrow reads.

    Text without any of by, values, texts, where, trim, ignore_case, format_in, delimiter, header, quotes, decimal_comma,
    null, null_values and ragged is lines ``key;value``; with one of them it is delimited text in general, with quoted
    fields (RFC 4180). What is not said of how it is written is guessed from its first 64 KiB, as the command
    does, once for all inputs: ``table.guessed`` says it. UTF-16 is known by its mark.

    by, values     columns by name or place (from 1), or lists of them; without by the first column,
                   without values the second; ``values=[]`` counts records; a value with a sign between
                   blanks is a formula, such as ``"price * quantity"`` or ``"round(bytes / ms, 3)"``;
                   a width behind a colon joins times (``"time:15m"``; s, m, h, d, w, mo and y) or numbers
                   (``"ms:100"``) of by in buckets, each called by its lower end, times in UTC
    trim, ignore_case   blanks around the parts of keys are no part of them; keys that differ only in the case of ASCII
                   letters are one, in small letters
    where          a condition, such as ``'status >= 500 && host != "x"'`` (grammar: docs/aggregate.md)
    texts          columns of texts, of which count, rows, count%, rows%, distinct, mode, first and last can be told
    stats          of min, mean, max, count, rows, sum, variance, stddev, range, distinct, mode, first,
                   last, histogram (a text in JSON), median and quantiles such as p99.9, and count%, rows% and sum%,
                   the shares of all keys; without it min, mean and max, of texts alone count and distinct
    quantiles      linear, between the two nearest values (type 7 of Hyndman and Fan), or nearest (type 1)
    approx         True, or "1%", "0.1%" or "0.01%": quantiles are as near as that (1 % for True), and distinct is an
                   estimate, from sketches whose size does not grow with the values; a column behind each
                   has its error in percent, none for a quantile from a number below zero to one above
    format_in      "delimited", "common" or "combined" (access logs) or "ndjson"; guessed by default where
                   columns are named
    delimiter      one byte; guessed by default: the first of tab, ``;``, ``|`` and ``,`` that cuts all records, or all
                   but few, into as many fields, or that has all columns that are named, otherwise ``;``
    quotes         whether fields may stand in quotes; otherwise a quote is a byte like any other; guessed
    decimal_comma  numbers have a comma where others have a point, and no points; guessed
    header         whether the first record names the columns; by default if one is asked for by name, or if
                   it has no number where all others have the values
    null           what a missing value means: skip, zero or fail; or a dict of columns to these
    null_values    fields that say there is no value, besides empty ones (of Arrow tables ``"NaN"`` alone)
    ragged         records with more or fewer fields: fail, or pad
    on_error       a record that is none: fail raises `DataError`, skip counts it;
                   rejects= is a file that keeps the bytes of those: it is written when the run has succeeded
    sort, reverse, top   order by a column of the key, a statistic (of the first value) or a column of the result such
                   as ``"ms_p99"``, or by a list of these, of which the next decides where one does not: keys start with
                   the smallest, numbers with the largest, unless ``:asc`` or ``:desc`` follows; without it, and by
                   ``"key"`` if no column is called so, the order of the whole key; and the first of it
    shares         beside each count, rows and sum its percentage of that of all keys, in a column such as ``"count%"``
    total          a last row of all keys together, also of those that top leaves out, called ``"total"`` or as said
    compare        data is two inputs, the one from before and the one from after, which stand side by side: each
                   statistic of both, its change, and the change in percent (of deviations and texts both alone)
    threads, chunk_bytes, memory_limit   as the command's
    progress       called with the bytes read so far (decompressed), about fifty times a second

    A floating-point number in an Arrow table means its shortest decimal, which all programs print:
    0.1 is 0.1, so that a table and its CSV have the same result. NaN and infinities are refused (NaN of pandas
    arrives as a null, and is missing). Tables, also those in files, have no formulas, texts= and rejects=, and numbers
    only in columns of numbers.
    Other threads of Python run meanwhile, and Ctrl-C ends the run.
    """
    asked = _once(locals())
    progress = asked.pop("progress")
    keys, columns = _columns(asked["by"], asked["values"], _places("texts", asked["texts"]))
    of_where = _native.columns(_text("where", where)) if where is not None else []
    wanted = list(dict.fromkeys([_native.part(key)[0] for key in keys] + columns + of_where))
    # Of two sides each is read for itself.
    sides = [[side] for side in _sides(data)] if truth("compare", compare) else [_inputs(data)]
    asked["data"] = [one for side in sides for one in tables(side, wanted)]
    inputs, plan = _asked(**asked)
    inputs = [readable(data) for data in inputs]
    if rejects is None:
        return Table(*_native.aggregate(inputs, plan, progress))
    from fathom._rejects import kept

    with kept(rejects, inputs) as plan.rejects:
        return Table(*_native.aggregate(inputs, plan, progress))


def asked(data, **options) -> tuple[list, _Plan]:
    """The inputs and the plan of `aggregate` with these options."""
    import inspect  # takes longer than all else that is imported, and few want this

    bound = inspect.signature(aggregate).bind(data, **options)
    bound.apply_defaults()
    return _asked(**_once({name: bound.arguments[name] for name in bound.arguments if name != "progress"}))


def _asked(
    data, by, values, texts, where, trim, ignore_case, stats, quantiles, approx, format_in, delimiter, header, quotes,
    decimal_comma, null, null_values, ragged, on_error, rejects, sort, reverse, top, shares, total, compare, threads,
    chunk_bytes, memory_limit,
):  # fmt: skip
    for name, value, known in (
        ("ragged", ragged, ("fail", "pad")),
        ("on_error", on_error, ("fail", "skip")),
        ("quantiles", quantiles, ("linear", "nearest")),
    ):
        if value not in known:
            raise ValueError(f"{name} is {' or '.join(map(repr, known))}, not {value!r}")
    if format_in not in (None, "delimited") and ({delimiter, header, quotes} != {None} or ragged == "pad"):
        raise ValueError("delimiter=, header=, quotes= and ragged= are of delimited text, which format_in= is not")
    if rejects is not None and on_error != "skip":
        raise ValueError("rejects= needs on_error='skip'")
    whole("top", top, 0)
    whole("threads", threads, 1, MOST_THREADS)
    whole("chunk_bytes", chunk_bytes, 64, 32 << 20)
    whole("memory_limit", memory_limit, 1)
    is_default = stats is STATS
    if is_default and _list(texts) and not _list(values):
        stats = ("count", "distinct")
    stats, null_values = _texts("stats", stats), _texts("null_values", null_values)
    if not stats:
        raise ValueError("stats names no statistic")
    total, approx = (_text_or_truth(name, value) for name, value in (("total", total), ("approx", approx)))
    for name, value in (("where", where), ("format_in", format_in), ("total", total), ("approx", approx)):
        if value is not None and not isinstance(value, bool):
            _text(name, value)
    for name, value in (("header", header), ("quotes", quotes), ("decimal_comma", decimal_comma)):
        if value is not None:
            truth(name, value)
    inputs = _sides(data) if compare else _inputs(data)
    is_frame = any(hasattr(one, "__arrow_c_stream__") for one in inputs)
    if is_frame and len(inputs) > 1 and not compare:
        raise ValueError("an Arrow table is read alone, or compared with another input: compare=True")
    if is_frame and rejects is not None:
        raise ValueError("rejects= keeps bytes of text, and an Arrow table has none")
    if is_frame:
        of_text = {"format_in": format_in, "delimiter": delimiter, "header": header, "quotes": quotes, "decimal_comma": decimal_comma}
        for name in (name for name, value in of_text.items() if value is not None):
            raise ValueError(f"{name}= says how text is written, and an Arrow table is none")
        if ragged == "pad":
            raise ValueError("ragged= is of text: the rows of an Arrow table have all columns")
        if set(null_values) - {"NaN", ""}:
            raise ValueError("null_values= compares texts: of an Arrow table 'NaN' alone can be said; make others null before")
    words = _places("texts", texts)
    if is_frame and words:
        raise ValueError("texts= needs text: columns of texts are not read from Arrow tables yet")
    is_plain = (
        by is None and values is None and where is None and not (words or trim or ignore_case) and null == "skip"
        and {format_in, delimiter, header, quotes, decimal_comma} == {None}
    ) and not null_values and ragged == "fail"
    keys, columns = _columns(by, values, words)
    if not columns and not is_default and stats != ["count"]:
        raise ValueError("stats: values=[] counts records, and nothing else is told of them: leave stats= out")
    is_text = [False] * (len(columns) - len(words)) + [True] * len(words)
    plan = _Plan(
        plain=is_plain,
        format_in=format_in,
        delimiter=_byte(delimiter),
        header=header,
        guessed_header=None,
        quotes=quotes,
        decimal_comma=decimal_comma,
        by=keys,
        trim=truth("trim", trim),
        ignore_case=truth("ignore_case", ignore_case),
        values=list(zip(columns, _nulls(null, columns), is_text)),
        filter=where,
        null_values=[text.encode() for text in null_values],
        pad=ragged == "pad",
        stats=stats if columns else ["count"],
        nearest=quantiles == "nearest",
        approx="1%" if approx is True else None if approx is False else approx,
        sort=_texts("sort", sort),
        reverse=truth("reverse", reverse),
        top=top,
        shares=truth("shares", shares),
        total="total" if total is True else None if total is False else total,
        compare=truth("compare", compare),
        skip=on_error == "skip",
        rejects=rejects,
        threads=threads,
        chunk_bytes=chunk_bytes,
        memory_limit=memory_limit,
    )
    return inputs, plan
