"""Aggregation on a Spark cluster: the same result as `fathom.aggregate`, byte for byte.

    spark = SparkSession.builder.master("spark://host:7077").getOrCreate()
    fathom.spark.aggregate(["/data/a.csv", "/data/b.csv"], spark, by="host", values="ms")

fathom must be installed where the executors' Python is, and the paths be theirs, too (a shared file system).
Spark's own retries (`spark.task.maxFailures`) and speculation (`spark.speculation`) apply.
"""

from __future__ import annotations

import pickle

from fathom import _scale

__all__ = ["aggregate"]


def aggregate(urls, spark, *, task_bytes=_scale.TASK_BYTES, records=False, **options):
    """As `fathom.aggregate`, by the executors of a Spark session (classic or Connect), through `mapInArrow`.

    task_bytes   of a task; small files are packed
    records      cut between records: needed if quotes enclose line breaks, and reads all once before
    """
    tasks, query = _scale.plan(urls, task_bytes, records, options)
    rows = [(at, pickle.dumps((task, query))) for at, task in enumerate(tasks)]
    frame = spark.createDataFrame(rows, "number long, bytes binary")
    states = _placed(frame, len(rows)).mapInArrow(_partials, _SCHEMA)
    while len(rows) > _scale.WIDTH:
        rows = _scale.groups(rows)
        states = _placed(states.selectExpr(f"number div {_scale.WIDTH} as number", "bytes"), len(rows))
        states = states.mapInArrow(_merges, _SCHEMA)
    return _scale.finish([bytes(row.bytes) for row in states.collect()], query)


_SCHEMA = "number long, bytes binary"


def _placed(frame, numbers: int):
    """Rows of one number in one partition."""
    return frame.repartitionByRange(max(numbers, 1), "number")


def _partials(batches):
    for batch in batches:
        numbers, tasks = (column.to_pylist() for column in batch.columns)
        states = [_scale.partial(*pickle.loads(task)) for task in tasks]
        yield _batch(numbers, states)


def _merges(batches):
    states: dict[int, list[bytes]] = {}
    for batch in batches:
        for number, state in zip(*(column.to_pylist() for column in batch.columns)):
            states.setdefault(number, []).append(state)
    yield _batch(list(states), [_scale.merge(group) for group in states.values()])


def _batch(numbers, states):
    import pyarrow

    arrays = [pyarrow.array(numbers, pyarrow.int64()), pyarrow.array(states, pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(arrays, names=["number", "bytes"])
