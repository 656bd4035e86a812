"""fathom: aggregate text exactly at memory speed; find out what is fastest here, with proof.

    import fathom

    table = fathom.aggregate("sales.csv", by="host", values="ms", stats=["count", "mean"])
    table.to_pandas()                              # or to_polars(), to_arrow(), to_dicts()
    fathom.aggregate(frame, by="host", values="ms")   # any Arrow table: Polars, pyarrow, DuckDB …
    fathom.haversine("pairs.json").mean
    fathom.run(["cmd a", "cmd b"])                 # which command is faster?
    fathom.cpu(only=["sha256"]); fathom.kv("keys.txt")

    @fathom.compare(baseline=old_sort, args=[...])
    def new_sort(numbers): ...                     # is my function faster?

Errors in data are `DataError`, with path, line, column and text.
"""

from fathom._aggregate import aggregate
from fathom._command import CommandFailed, bench, cpu, kv, program, run
from fathom._compare import compare
from fathom._error import DataError
from fathom._haversine import Mean, haversine
from fathom._native import __version__
from fathom._result import Case, Contender, Run, Verdict
from fathom._table import Table

__all__ = [
    "Case",
    "CommandFailed",
    "Contender",
    "DataError",
    "Mean",
    "Run",
    "Table",
    "Verdict",
    "__version__",
    "aggregate",
    "bench",
    "compare",
    "cpu",
    "haversine",
    "kv",
    "program",
    "run",
]
