"""The result of an aggregation, and the ways out of it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SHOWN = 10

# `Table` has a member of this name.
_Bytes = bytes


class Table:
    """One row for each key: the key's columns first, then the statistics; with ``total=`` a last one of all keys.

    It is an Arrow table to whoever asks (``polars.DataFrame(t)``, ``pyarrow.table(t)``, DuckDB's
    ``from t``): keys are text, or binary if one is not UTF-8. Counts are int64, and so is what is
    said in the unit of values without decimals, if all of a column fits; the rest is float64, the double nearest to
    what the command prints with ``--format json``. Rows, columns and dicts have Python's integers of any size where
    64 bits are too few. ``exact=True`` gives every digit instead, of means, variances and deviations at least 17
    significant ones.
    """

    __slots__ = ("_groups", "_guessed", "__weakref__")

    def __init__(self, groups, guessed=()):
        self._groups = groups
        self._guessed = dict(guessed)

    @property
    def guessed(self) -> dict:
        """How the text was taken to be written where nobody said it, by the options of `aggregate` that say
        otherwise (``{"delimiter": ",", "header": True}``), and its encoding if that is not UTF-8."""
        return dict(self._guessed)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._groups.names

    @property
    def records(self) -> int:
        """Records taken."""
        return self._groups.counts[0]

    @property
    def rejected(self) -> int:
        """Records refused; not zero only with ``on_error="skip"``."""
        return self._groups.counts[1]

    @property
    def rejects(self) -> list[str]:
        """The first refused records, as ``path:line:column: why``."""
        return self._groups.rejects

    @property
    def blank_lines(self) -> int:
        """Lines with nothing on them."""
        return self._groups.counts[2]

    @property
    def bytes(self) -> int:
        """Bytes of input, decompressed; of Arrow, about as many."""
        return self._groups.counts[3]

    def __len__(self) -> int:
        return len(self._groups)

    def _keys(self) -> int:
        return len(self) - self._groups.has_total

    def __getitem__(self, column: str) -> list:
        """A column as a list."""
        try:
            at = self.columns.index(column)
        except ValueError:
            raise KeyError(column) from None
        return self._groups.column(at)

    def __eq__(self, other) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self._compared() == other._compared()

    def _compared(self) -> dict:
        """What two tables that are equal have both: all but how many bytes were read, and where refused records stood."""
        state = self._groups.saved_state()
        return {**state, "counts": state["counts"][:-1], "rejects": None}

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples."""
        return zip(*(self._groups.column(at) for at in range(len(self.columns))))

    def to_dicts(self, exact: bool = False) -> list[dict]:
        """A dict for each key; with exact, numbers are `decimal.Decimal` with every digit there is;
        means, variances and deviations are rounded to 17 significant ones, or to whole numbers where these have more."""
        names = self.columns
        if not exact:
            return [dict(zip(names, row)) for row in self]
        from decimal import Decimal

        def column(at):
            if self._groups.is_text(at):
                return self._groups.column(at)
            return [text and Decimal(text) for text in self._groups.exact(at)]

        return [dict(zip(names, row)) for row in zip(*map(column, range(len(names))))]

    def to_arrow(self, exact: bool = False) -> Any:
        """A ``pyarrow.Table``; with exact, numbers are decimal128 of at most 38 digits."""
        import pyarrow

        return pyarrow.table(_Exact(self._groups) if exact else self)

    def to_polars(self, exact: bool = False) -> Any:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(_Exact(self._groups) if exact else self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``; of the other libraries none is needed. Integers some of which are missing
        are of pandas' type Int64, which has missing ones; those of which some do not fit 64 bits are doubles."""
        import pandas

        def column(at):
            if self._groups.is_text(at):
                cells = self._groups.column(at)
                # Of no cells, or none that is there, pandas would not know that they are texts.
                dtype = None if cells and isinstance(cells[0], _Bytes) else pandas.Series([""]).dtype
                return pandas.Series(cells, dtype=dtype)
            if self._groups.is_integer(at):
                cells = self._groups.column(at)
                return pandas.Series(cells, dtype="Int64" if None in cells else "int64")
            return pandas.Series([text and float(text) for text in self._groups.exact(at)], dtype="float64")

        return pandas.DataFrame({name: column(at) for at, name in enumerate(self.columns)})

    def format(self, format: str = "table", decimals=None, rounding: str = "half-up") -> _Bytes:
        """The result as the command prints it: brc, table, csv, tsv, json or ndjson; decimals are 0 to 18."""
        from fathom._aggregate import whole

        whole("decimals", decimals, 0, 18)
        return self._groups.render(format, decimals, rounding)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._groups.stream()

    def __arrow_c_schema__(self):
        return self._groups.schema()

    def __reduce__(self):
        return _restored, (self._groups.saved_state(), self._guessed)

    def __copy__(self) -> Table:
        return self  # It never changes.

    def __deepcopy__(self, _memo) -> Table:
        return self

    def __repr__(self) -> str:
        lines = self._groups.lines(_SHOWN, _SHOWN)
        between = len(self) - len(lines) + 1
        gap = [f"… {between} more"] if between else []
        return "\n".join([*lines[: _SHOWN + 1], *gap, *lines[_SHOWN + 1 :], self._said()])

    def _said(self) -> str:
        rejected = f", {self.rejected} refused" if self.rejected else ""
        return f"{_counted(self._keys(), 'key')}, {_counted(self.records, 'record')}{rejected}"

    def _repr_html_(self) -> str:
        """The first and the last rows, numbers with ten significant digits."""
        from html import escape

        names, parts, rows = self.columns, self._groups.parts, len(self)
        ends = [*range(min(rows, _SHOWN)), *range(max(_SHOWN, rows - _SHOWN), rows)]
        columns = []
        for at in range(len(names)):
            is_text = self._groups.is_text(at)
            cells = self._groups.column(at) if is_text else self._groups.exact(at)
            columns.append([_text(cells[row], is_text) for row in ends])

        def row(cells):
            def cell(at, text):
                align = "left" if at < parts else "right"
                return f'<td style="text-align:{align}">{escape(text)}</td>'

            return "<tr>" + "".join(cell(at, text) for at, text in enumerate(cells)) + "</tr>"

        body = [row(cells) for cells in zip(*columns)]
        if rows > len(ends):
            gap = f"… {rows - len(ends)} more"
            body.insert(_SHOWN, f'<tr><td colspan="{len(names)}">{gap}</td></tr>')
        head = "".join(f"<th>{escape(_text(name, True))}</th>" for name in names)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
            f"<p>{self._said()}, {_counted(self.bytes, 'byte')}</p>"
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


#: Control characters as the command shows them.
_CONTROLS = {code: f"\\u{{{code:x}}}" for code in (*range(32), *range(127, 160))} | {9: "\\t", 10: "\\n", 13: "\\r"}


def _text(cell, is_text: bool) -> str:
    if cell is None:
        return "-"
    if is_text:
        return cell.translate(_CONTROLS) if isinstance(cell, str) else repr(cell)[2:-1]
    if len(cell) <= 11:
        return cell
    number = float(cell)
    if not sys.float_info.min <= abs(number) <= sys.float_info.max:
        from decimal import Decimal

        return f"{Decimal(cell).normalize():.10g}"
    return f"{number:.10g}"


class _Exact:
    """The same table in decimals."""

    def __init__(self, groups):
        self._groups = groups

    def __arrow_c_stream__(self, requested_schema=None):
        return self._groups.stream(exact=True)


def _restored(state, guessed=()) -> Table:
    from fathom import _native

    return Table(_native.Groups.restored(state), guessed)
