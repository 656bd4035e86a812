"""Parquet and Arrow files, also those in memory, as streams of Arrow, by pyarrow."""

from __future__ import annotations

import os

from fathom import _native
from fathom._error import DataError
from fathom._pipe import is_path


def _first(data) -> bytes:
    """The first bytes of an input that can be read again; what else there is loses them when they are read."""
    if isinstance(data, bytes):
        return data[:8]
    if hasattr(data, "__arrow_c_stream__"):
        return b""
    try:
        if is_path(data):
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
    for data in inputs:
        _refuse_addresses(data, columns)
    formats = {_FORMATS.get(_native.foreign(_first(data)) or "") for data in inputs}
    if formats <= {None}:
        return inputs
    if len(formats) > 1:
        raise ValueError("files of one call are all Parquet, all Arrow, or all text")
    [format] = formats
    names = [_name(data) for data in inputs]
    try:
        import pyarrow.dataset
    except ImportError:
        said = f"{names[0]}: tables in files are read by pyarrow: pip install pyarrow"
        raise ImportError(said) from None
    parts = [_opened(name, data, format) for name, data in zip(names, inputs)]
    schemas = [schema for _, schema in parts]
    if all(column in schemas[0].names for column in columns if isinstance(column, str)):
        schema, places = _shared(names, schemas, columns, format == "stream")
        batches = _scanned(parts, schema) if format == "parquet" else _streamed(parts, schema, places, format)
        stream = pyarrow.RecordBatchReader.from_batches(schema, _told(batches))
    else:
        # The native half says it better.
        stream = pyarrow.RecordBatchReader.from_batches(schemas[0], [])
    return [_Named(stream, names[0] if len(names) == 1 else "<arrow>")]


def _refuse_addresses(data, columns: list) -> None:
    """Refuses columns of any objects, of which Polars tells where they are in memory, and nobody that it does."""
    if type(data).__module__.partition(".")[0] != "polars" or not hasattr(data, "dtypes"):
        return
    for place, (name, kind) in enumerate(zip(data.columns, data.dtypes), 1):
        if (name in columns or place in columns) and str(kind) == "Object":
            raise TypeError(f"column {name!r} has objects of Python: make texts or numbers of them before")


def _name(data) -> str:
    if is_path(data):
        return os.fsdecode(data)
    name = "<bytes>" if isinstance(data, bytes) else getattr(data, "name", None)
    return name if isinstance(name, str) else "<stream>"


def _opened(name: str, data, format: str):
    """A stream or a part of a data set, and its schema."""
    import pyarrow
    from pyarrow import dataset, fs, ipc

    if is_path(data):
        source, where = os.fsdecode(data), fs.LocalFileSystem()
    else:
        # Of an open file with a path pyarrow would take the path.
        source, where = pyarrow.BufferReader(data) if isinstance(data, bytes) else pyarrow.PythonFile(data, "r"), None
    try:
        if format == "stream":
            source = pyarrow.OSFile(source) if where else source
            stream = ipc.open_stream(source)
            part, schema = _whole(stream, source), stream.schema
        else:
            kind = dataset.ParquetFileFormat() if format == "parquet" else dataset.IpcFileFormat()
            part = kind.make_fragment(source, filesystem=where)
            schema = part.physical_schema
        schema.names  # Nobody has looked whether they are texts.
        return part, schema
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as said:
        if _is_of_the_system(said):
            raise
        raise DataError(f"{name}: {said}", name) from None


def _is_of_the_system(said) -> bool:
    """Whether an error is none of the data."""
    import pyarrow

    return getattr(said, "errno", None) or isinstance(said, (MemoryError, pyarrow.ArrowCancelled))


#: What a stream ends with: a message of no bytes.
_END_MARK = b"\xff\xff\xff\xff\0\0\0\0"


def _whole(stream, source):
    """The batches of a stream that has its end mark, and no other one behind it; pyarrow asks for neither."""
    import pyarrow

    before = source.tell()
    for batch in stream:
        before = source.tell()
        yield batch
    end = source.tell()
    # The last bytes of a batch may be the same. (Those of a dictionary behind all batches, which nothing refers to, are not told apart.)
    if end - before >= len(_END_MARK):
        source.seek(end - len(_END_MARK))
    if source.read(len(_END_MARK)) != _END_MARK:
        raise pyarrow.ArrowInvalid("it has no end mark, as if its writer had not come to the end")
    if _native.foreign(source.read(8)) == "an Arrow stream":
        raise pyarrow.ArrowInvalid(f"a second stream follows at byte {end}")


def _shared(names: list, schemas: list, columns: list, is_stream: bool):
    """The schema by which all are read, and the places of its columns in each: the columns asked for, or all of them
    where one is by its place, of types that hold what every file has."""
    import pyarrow

    first = schemas[0]
    has_places = not all(isinstance(column, str) for column in columns)
    shared = first.names if has_places else columns
    places = []
    for name, schema in zip(names, schemas):
        if has_places and schema.names != first.names:
            raise ValueError(f"{name}: files of one call have the same columns, unless these are chosen by name")
        is_by_place = has_places and is_stream
        places.append(range(len(shared)) if is_by_place else [_place(name, schema.names, column) for column in shared])
    fields = []
    for column, at in zip(shared, zip(*places)):
        found = [schema.field(there) for schema, there in zip(schemas, at)]
        fields.append(found[0].with_type(_widest(column, names, [field.type for field in found])))
    return pyarrow.schema(fields), places


def _place(name: str, there: list, column: str) -> int:
    """Where a column is; what a file lacks, a data set would fill with nulls."""
    if there.count(column) > 1:
        raise KeyError(f'{name}: there are two columns "{column}"')
    if column not in there:
        raise KeyError(f"{name}: there is no column {column!r}; there are: {', '.join(there)}")
    return there.index(column)


def _told(batches):
    """The batches; what is wrong in a file as the error of pyarrow that is one of data when it has come through Arrow."""
    import pyarrow

    try:
        yield from batches
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as said:
        if _is_of_the_system(said):
            raise
        raise pyarrow.ArrowInvalid(str(said)) from None


def _streamed(parts: list, schema, places: list, format: str):
    import pyarrow

    for (part, _), there in zip(parts, places):
        if format == "arrow":
            # Only these columns, in this order.
            part, there = part.to_batches(columns=schema.names), range(len(schema))
        for batch in part:
            columns = [batch.column(at) for at in there]
            for column in columns:
                # Nobody has looked at the places of texts that stand in the file, and a cast trusts them.
                column.validate(full=True)
            columns = [column.cast(type) for column, type in zip(columns, schema.types)]
            yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _scanned(parts: list, schema):
    from pyarrow import dataset

    files = [part for part, _ in parts]
    # It casts what is of another type.
    yield from dataset.FileSystemDataset(files, schema, files[0].format).scanner().to_reader()


#: Types by their names: not every version of pyarrow has all of them.
_KINDS = dict.fromkeys(["string", "large_string", "string_view"], "texts")
_KINDS |= dict.fromkeys(["binary", "large_binary", "binary_view"], "bytes")


def _kind(type):
    """What is cast to another type of the same kind keeps its value."""
    from pyarrow import types

    type = type.value_type if types.is_dictionary(type) else type
    if types.is_fixed_size_binary(type):
        return "bytes"
    return "integers" if types.is_integer(type) else _KINDS.get(str(type), type)


def _widest(column: str, names: list, types: list):
    """The type that holds every value of these; what is nothing but missing is of any."""
    import pyarrow

    some = [(name, type) for name, type in zip(names, types) if _kind(type) != pyarrow.null()]
    if len({type for _, type in some}) < 2:
        return some[0][1] if some else types[0]
    kind = _kind(some[0][1])
    for name, type in some:
        if _kind(type) != kind:
            raise ValueError(f"{name}: column {column!r} has {_kind(type)}, and {kind} in {some[0][0]}")
        if pyarrow.types.is_dictionary(type) and str(type.value_type).endswith("_view"):
            raise ValueError(
                f"{name}: column {column!r} has a dictionary of type {type.value_type}, which pyarrow does not join with what "
                "other files have: write it without a dictionary"
            )
    if kind in ("texts", "bytes"):
        return pyarrow.large_string() if kind == "texts" else pyarrow.large_binary()
    if kind != "integers":
        return kind
    widths = [type.value_type if pyarrow.types.is_dictionary(type) else type for _, type in some]
    if all(map(pyarrow.types.is_unsigned_integer, widths)):
        return pyarrow.uint64()
    return pyarrow.decimal128(20, 0) if pyarrow.uint64() in widths else pyarrow.int64()


class _Named:
    """A stream of the rows of files, of which one says its name in errors."""

    def __init__(self, stream, path: str):
        self._stream, self.path = stream, path

    def __arrow_c_stream__(self, requested_schema=None):
        return self._stream.__arrow_c_stream__(requested_schema)
