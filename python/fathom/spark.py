"""Aggregation on a Spark cluster: the same result as `fathom.aggregate`, byte for byte.

    spark = SparkSession.builder.master("spark://host:7077").getOrCreate()
    fathom.spark.aggregate(["/data/a.csv", "/data/b.csv"], spark, by="host", values="ms")

fathom must be installed where the executors' Python is, and the paths be theirs, too (a shared file system).
Spark's own retries (`spark.task.maxFailures`) and speculation (`spark.speculation`) apply.
"""

from __future__ import annotations

import functools
import gc
import struct

from fathom import _scale
from fathom._table import Table

__all__ = ["aggregate"]


def aggregate(urls, spark, *, task_bytes: int = 4 * _scale.TASK_BYTES, records: bool = False, **options) -> Table:
    """As `fathom.aggregate`, by the executors of a Spark session (classic or Connect), through `mapInArrow`.

    Files are text, also compressed; Parquet and Arrow files are for `fathom.aggregate`.
    With ``on_error="skip"`` refused records are counted (`Table.rejected`), and none is shown (`Table.rejects`).

    task_bytes   of a task, four times what it is elsewhere, because a task costs Spark more; small files are packed
    records      cut between records: needed if quotes enclose line breaks, and reads all once before
    """
    return _scale.answer(functools.partial(_states, spark), urls, task_bytes, records, options)


def _states(spark, tasks, query) -> list[bytes]:
    # A number for each task, in a partition of its own: nothing is moved to begin with.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    states = numbers.mapInArrow(_Partials(tasks, query), _SCHEMA).persist()
    try:
        # What is little is all that the driver needs, and no other job follows.
        little = _LITTLE_BYTES if len(tasks) <= _scale.WIDTH else -1
        some = f"case when length(bytes) <= {little} then bytes end as bytes"
        found = states.selectExpr("keys", "length(bytes) as length", some).collect()
        of = _scale.partitions(max(row.keys for row in found)) if len(tasks) > 1 else 1
        if of > 1:
            parts = states.mapInArrow(_Splits(of), _SCHEMA)
            found = parts.repartition(of, "number").mapInArrow(_merges, _SCHEMA).select("bytes").collect()
        elif any(row.bytes is None for row in found):
            merged, left = states, len(tasks)
            # As many as are merged at a time go to the driver as they are if all together are as little.
            most = _scale.WIDTH if sum(row.length for row in found) <= _scale.WIDTH * _LITTLE_BYTES else 1
            while left > most:
                left = -(-left // _scale.WIDTH)
                merged = merged.selectExpr(f"number div {_scale.WIDTH} as number", "keys", "bytes")
                merged = merged.repartition(left, "number").mapInArrow(_merges, _SCHEMA)
            found = merged.select("bytes").collect()
        return [bytes(row.bytes) for row in found]
    finally:
        states.unpersist()


#: What goes from step to step, in Spark's words; `_arrow_schema` is the same.
_SCHEMA = "number long, keys long, bytes binary"


@functools.cache
def _arrow_schema():
    import pyarrow

    return pyarrow.schema([("number", pyarrow.int64()), ("keys", pyarrow.int64()), ("bytes", pyarrow.binary())])


#: Bytes of a state that the driver takes before it knows how large the others are.
_LITTLE_BYTES = 1 << 20


class _Partials:
    """States of tasks by their numbers."""

    def __init__(self, tasks, query):
        self.tasks, self.query = tasks, query

    def __call__(self, batches):
        _freeze()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                state = _scale.partial(self.tasks[number], self.query)
                yield _batch(number, _scale.keys(state), state)


@functools.cache
def _freeze():
    """Takes what is there, once a process, out of the sight of Python's collector of garbage.

    Spark has it look at all objects after each task; those of pyspark, pandas and pyarrow alone take 20 to 30 ms.
    """
    gc.collect()
    gc.freeze()


class _Splits:
    """States by partitions of their keys."""

    def __init__(self, of: int):
        self.of = of

    def __call__(self, batches):
        for batch in batches:
            for state in batch.column("bytes").to_pylist():
                for number, part in enumerate(_scale.split(state, self.of)):
                    yield _batch(number, 0, part)


def _merges(batches):
    states: dict[int, list[bytes]] = {}
    for batch in batches:
        for number, state in zip(batch.column("number").to_pylist(), batch.column("bytes").to_pylist()):
            states.setdefault(number, []).append(state)
    for number, group in states.items():
        yield _batch(number, 0, _scale.merge(*group))


def _batch(number: int, keys: int, state: bytes):
    """A row of the schema. After a task all code is cold, most of all Arrow's conversions of lists, which took twice
    the time that Python otherwise adds to a task."""
    import pyarrow

    if len(state) >= 1 << 31:
        raise ValueError(f"a state of {len(state)} bytes, and a row of Spark holds 2 GiB: take smaller tasks")
    row = pyarrow.py_buffer(struct.pack("=qqii", number, keys, 0, len(state)))
    buffers = [[None, row], [None, row.slice(8)], [None, row.slice(16), pyarrow.py_buffer(state)]]
    schema = _arrow_schema()
    arrays = [pyarrow.Array.from_buffers(kind, 1, parts) for kind, parts in zip(schema.types, buffers)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)
