"""The error for input that is not what it should be."""

from __future__ import annotations


class DataError(ValueError):
    """Input that is not what it should be, and where: the message reads ``path:line:column: why``.

    path, line and column (both from 1) say where it stands; of Arrow tables, line is the row and
    column the place among the columns asked for. field is the name of the column, text the bytes
    that are wrong. What is not known is None.
    """

    path: str | None
    line: int | None
    column: int | None
    field: str | None
    text: bytes | None

    def __init__(self, message, path=None, line=None, column=None, field=None, text=None):
        super().__init__(message, path, line, column, field, text)
        self.path, self.line, self.column, self.field, self.text = path, line, column, field, text

    def __str__(self):
        return self.args[0]
