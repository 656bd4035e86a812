"""fathom: aggregate text exactly at memory speed; find out what is fastest here, with proof.

    import fathom

    table = fathom.aggregate("sales.csv", by="host", values="ms", stats=["count", "mean"])
    table.to_pandas()                                 # or to_polars(), to_arrow(), to_dicts()
    fathom.aggregate(frame, by="host", values="ms")   # any Arrow table: Polars, pyarrow, DuckDB …
    fathom.haversine("pairs.json").mean

    fathom.run(["cmd a", "cmd b"])                    # which command is faster?
    fathom.cpu(only=["sha256"]); fathom.kv("keys.txt")
    fathom.compare([old_sort, new_sort], args=[numbers])   # is my function faster?

Errors in data are `DataError`, with path, line, column and text.
"""

from fathom._aggregate import aggregate
from fathom._error import DataError
from fathom._haversine import Mean, haversine
from fathom._native import __version__
from fathom._table import Table

# What calls the command is imported when it is first asked for: it brings modules of Python that an
# aggregation needs not.
_LATER = {
    "_command": ("CommandFailed", "bench", "cpu", "kv", "program", "run"),
    "_compare": ("compare",),
    "_result": ("Case", "Contender", "Keys", "Run", "Verdict"),
}

# Drivers of what runs tasks elsewhere, which is imported when they are called.
_ENGINES = ("dask", "ray", "spark")

__all__ = ["DataError", "Mean", "Table", "__version__", "aggregate", "haversine"]
__all__ += ["CommandFailed", "bench", "cpu", "kv", "program", "run", "compare"]
__all__ += ["Case", "Contender", "Keys", "Run", "Verdict"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fathom import dask as dask, ray as ray, spark as spark
    from fathom._command import CommandFailed, bench, cpu, kv, program, run
    from fathom._compare import compare
    from fathom._result import Case, Contender, Keys, Run, Verdict
else:
    # Of whoever checks types it would hide every name that is not there.
    def __getattr__(name):
        import importlib

        if name in _ENGINES:
            return importlib.import_module(f"fathom.{name}")
        for module, names in _LATER.items():
            if name in names:
                return getattr(importlib.import_module(f"fathom.{module}"), name)
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")


def __dir__():
    return __all__
