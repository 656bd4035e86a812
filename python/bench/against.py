"""fathom against Polars, DuckDB and pandas: the same groups of the same file, and of the same table in memory.

    python against.py [ROWS [ROUNDS [SAVED.json]]]

All of it in one process, with as many threads each; every library in the form that its documentation
advises for speed. In each round each of them runs once, in turn; medians of processor time and of wall time
are shown. Before anything is timed, all must find the same minimum, mean and maximum of each key.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = len(os.sched_getaffinity(0))
os.environ["POLARS_MAX_THREADS"] = str(THREADS)

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402
from fathom import _command  # noqa: E402

import fathom  # noqa: E402

pyarrow.set_cpu_count(THREADS)
duckdb.sql(f"set threads = {THREADS}")


def by_polars(frame):
    value = polars.col("v")
    statistics = [value.min(), value.mean().alias("mean"), value.max().alias("max")]
    frame = frame.group_by("k").agg(statistics).sort("k")
    return frame.collect(engine="streaming") if hasattr(frame, "collect") else frame


def by_duckdb(source):
    query = f"select k, min(v), avg(v), max(v) from {source} group by k order by k"
    return duckdb.sql(query).fetchall()


def by_pandas(frame):
    return frame.groupby("k", observed=True)["v"].agg(["min", "mean", "max"])


def of_file(path):
    """Calls that begin with the file."""
    columns = {"k": polars.String, "v": polars.Float64}
    sql = f"read_csv('{path}', header=false, delim=';', columns={{'k': 'VARCHAR', 'v': 'DOUBLE'}})"
    options = dict(sep=";", names=["k", "v"], engine="pyarrow", dtype={"k": "category", "v": float})
    return {
        "fathom": lambda: fathom.aggregate(path, threads=THREADS),
        "Polars": lambda: by_polars(
            polars.scan_csv(path, separator=";", has_header=False, schema=columns, quote_char=None)
        ),
        "DuckDB": lambda: by_duckdb(sql),
        "pandas": lambda: by_pandas(pandas.read_csv(path, **options)),
    }


def of_memory(frame):
    """Calls that begin with a table: of each library's own kind, and of Polars for fathom."""
    arrow, of_pandas = frame.to_arrow(), frame.to_pandas()
    of_pandas["k"] = of_pandas["k"].astype("category")
    duckdb.register("arrow", arrow)
    duckdb.sql("create or replace table own as select * from arrow")
    return {
        "fathom": lambda: fathom.aggregate(frame, by="k", values="v", threads=THREADS),
        "Polars": lambda: by_polars(frame),
        "DuckDB": lambda: by_duckdb("own"),
        "pandas": lambda: by_pandas(of_pandas),
    }


def rows(result) -> dict:
    """Minimum, mean and maximum by key, of whatever a library returns."""
    if isinstance(result, fathom.Table):
        found = [tuple(row.values()) for row in result.to_dicts()]
    elif isinstance(result, pandas.DataFrame):
        found = [tuple(row) for row in result.itertuples()]
    else:
        found = result.rows() if hasattr(result, "rows") else result
    return {key: tuple(numbers) for key, *numbers in found}


def agree(calls):
    expected = rows(calls["fathom"]())
    for name, call in calls.items():
        found = rows(call())
        assert found.keys() == expected.keys(), f"{name} has other keys"
        for key, numbers in found.items():
            near = zip(numbers, expected[key])
            assert all(abs(a - b) < 1e-3 for a, b in near), f"{name} of {key}: {numbers}"


def timed(call) -> tuple:
    processor, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - processor, time.perf_counter() - wall


def measure(calls, rounds: int) -> dict:
    agree(calls)
    samples = {name: [] for name in calls}
    for number in range(rounds):
        order = list(calls)[number % len(calls) :] + list(calls)[: number % len(calls)]
        for name in order:
            samples[name].append(timed(calls[name]))
    return samples


def shown(title: str, samples: dict):
    print(f"\n| {title} | processor | against fathom | wall |\n|---|--:|--:|--:|")
    medians = {name: [statistics.median(times) for times in zip(*all)] for name, all in samples.items()}
    for name, (processor, wall) in medians.items():
        ratio = processor / medians["fathom"][0]
        print(f"| {name} | {processor:.3f} s | {ratio:.2f} | {wall:.3f} s |")


def main(count="5M", rounds="7", saved=None):
    with tempfile.TemporaryDirectory(prefix="fathom-") as folder:
        path = str(pathlib.Path(folder) / "measurements.txt")
        generate = ["generate", "measurements", "--rows", count, "--output", path]
        subprocess.run([_command.program(), *generate], check=True, stderr=subprocess.DEVNULL)
        frame = polars.read_csv(path, separator=";", has_header=False, new_columns=["k", "v"])
        found = {
            f"a file of {count} rows": measure(of_file(path), int(rounds)),
            f"a table of {count} rows": measure(of_memory(frame), int(rounds)),
        }
    libraries = (fathom, polars, duckdb, pandas, pyarrow)
    versions = {library.__name__: library.__version__ for library in libraries}
    print(f"{THREADS} threads, {rounds} rounds, medians;", versions)
    for title, samples in found.items():
        shown(title, samples)
    if saved:
        machine = json.loads(_command.call(["machine", "--format", "json"]))
        said = {"machine": machine, "threads": THREADS, "versions": versions, "seconds": found}
        pathlib.Path(saved).write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
