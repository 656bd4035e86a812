"""Parquet and Arrow files, also those in memory, as streams of Arrow, by pyarrow."""

from __future__ import annotations

import itertools
import os

from fathom import _native
from fathom._error import DataError


def _first(data) -> bytes:
    """The first bytes of an input that can be read again; what else there is loses them when they are read."""
    if isinstance(data, bytes):
        return data[:8]
    if hasattr(data, "__arrow_c_stream__"):
        return b""
    try:
        if isinstance(data, (str, os.PathLike)):
            if not os.path.isfile(data):
                return b""
            with open(data, "rb") as file:
                return file.read(8)
        if not data.seekable() or data.tell():
            return b""
        first = data.read(8)
        data.seek(0)
    except (AttributeError, OSError):
        return b""  # The engine says it better.
    return first if isinstance(first, bytes) else b""


#: The tables that pyarrow reads, as the native half calls what is no text.
_FORMATS = {"an Arrow file": "arrow", "an Arrow stream": "stream", "a Parquet file": "parquet"}


def tables(inputs: list, columns: list) -> list:
    """The inputs; Parquet and Arrow files as one stream of the columns by these names (all for places)."""
    formats = {_FORMATS.get(_native.foreign(_first(data)) or "") for data in inputs}
    if formats <= {None}:
        return inputs
    if len(formats) > 1:
        raise ValueError("files of one call are all Parquet, all Arrow, or all text")
    [format] = formats
    names = [_name(data) for data in inputs]
    try:
        import pyarrow.dataset  # noqa: F401
    except ImportError:
        said = f"{names[0]}: tables in files are read by pyarrow: pip install pyarrow"
        raise ImportError(said) from None
    parts = [_opened(name, data, format) for name, data in zip(names, inputs)]
    stream = _streamed(parts) if format == "stream" else _scanned(names, parts, columns)
    return [_Named(stream, names[0] if len(names) == 1 else "<arrow>")]


def _name(data) -> str:
    if isinstance(data, (str, os.PathLike)):
        return os.fsdecode(data)
    name = "<bytes>" if isinstance(data, bytes) else getattr(data, "name", None)
    return name if isinstance(name, str) else "<stream>"


def _opened(name: str, data, format: str):
    """A stream, or a part of a data set, whose schema was read."""
    import pyarrow
    from pyarrow import dataset, fs, ipc

    is_path = isinstance(data, (str, os.PathLike))
    source = os.fsdecode(data) if is_path else pyarrow.BufferReader(data) if isinstance(data, bytes) else data
    try:
        if format == "stream":
            return ipc.open_stream(pyarrow.OSFile(source) if is_path else source)
        kind = dataset.ParquetFileFormat() if format == "parquet" else dataset.IpcFileFormat()
        part = kind.make_fragment(source, filesystem=fs.LocalFileSystem() if is_path else None)
        return part, part.physical_schema
    except (pyarrow.ArrowInvalid, OSError) as said:
        if getattr(said, "errno", None):
            raise
        raise DataError(f"{name}: {said}", name) from None


def _streamed(streams: list):
    import pyarrow

    first = streams[0].schema
    if not all(stream.schema.equals(first) for stream in streams):
        raise ValueError("streams of one call have the same columns")
    return pyarrow.RecordBatchReader.from_batches(first, itertools.chain.from_iterable(streams))


def _scanned(names: list, parts: list, columns: list):
    import pyarrow
    from pyarrow import dataset

    first, schema = parts[0]
    has_places = not all(isinstance(column, str) for column in columns)
    # A data set fills what a file lacks with nulls, and casts what is of another type.
    types = _types(schema, schema.names if has_places else columns)
    for name, (_, other) in zip(names, parts):
        if has_places and other.names != schema.names:
            raise ValueError(f"{name}: files of one call have the same columns, unless these are chosen by name")
        there = _types(other, types)
        for column, type in types.items():
            if column not in there:
                raise KeyError(f"{name}: there is no column {column!r}; there are: {', '.join(other.names)}")
            if there[column] not in (type, pyarrow.null()):
                raise ValueError(f"{name}: column {column!r} has {there[column]}, and {type} in {names[0]}")
    table = dataset.FileSystemDataset([part for part, _ in parts], schema, first.format)
    # All where one is not there: the native half says it better.
    is_all = has_places or not set(columns) <= set(schema.names)
    return table.scanner(columns=None if is_all else columns).to_reader()


def _types(schema, columns) -> dict:
    """The types of those of the columns that there are; casts among integers and among texts keep every value."""
    from pyarrow import types

    def kind(type):
        type = type.value_type if types.is_dictionary(type) else type
        is_text = types.is_string(type) or types.is_large_string(type)
        return "integers" if types.is_integer(type) else "texts" if is_text else type

    return {field.name: kind(field.type) for field in schema if field.name in columns}


class _Named:
    """A stream of the rows of files, of which one says its name in errors."""

    def __init__(self, stream, path: str):
        self._stream, self.path = stream, path

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream.__arrow_c_stream__(requested_schema)
