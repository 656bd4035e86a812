"""Aggregation on a Ray cluster: the same result as `fathom.aggregate`, byte for byte.

    ray.init(address="auto")
    fathom.ray.aggregate(["/data/a.csv", "/data/b.csv"], by="host", values="ms")

fathom must be installed on the nodes, and the paths be theirs, too (a shared file system).
"""

from __future__ import annotations

import operator

from fathom import _scale
from fathom._table import Table

__all__ = ["aggregate"]


class _Engine:
    def __init__(self, ray, retries):
        self.ray, self.retries = ray, retries
        # What each task returns, by the object that says that it ended.
        self.returned = {}

    def submit(self, function, *arguments):
        several = arguments[1] if function is _scale.split else 1
        options = {"num_returns": 1 + several, "max_retries": operator.index(self.retries)}
        options["name"] = f"fathom.{function.__name__}"
        ended, *returned = self.ray.remote(_call).options(**options).remote(several, function, *arguments)
        self.returned[ended] = returned
        return ended

    def wait(self, futures, timeout):
        return self.ray.wait(futures, num_returns=1, timeout=timeout)[0]

    def held(self, ended):
        # Raises what the task raised, and fetches nothing of what it found.
        self.ray.get(ended)
        returned = self.returned.pop(ended)
        return returned if len(returned) > 1 else returned[0]

    def parts(self, whole, of):
        return whole

    def results(self, held, timeout):
        try:
            return self.ray.get(held, timeout=timeout)
        except self.ray.exceptions.GetTimeoutError:
            return None

    def cancel(self, ended):
        self.ray.cancel(ended, force=True)

    def late(self, seconds):
        """Ray sees by itself which processes ended; what hangs is cancelled in the end."""


def _call(several, function, *arguments):
    """That it ended, and what it found: one object, or several."""
    found = function(*arguments)
    return (None, *found) if several > 1 else (None, found)


def aggregate(
    urls, *, task_bytes: int = _scale.TASK_BYTES, records: bool = False, timeout: float | None = None, retries: int = 3, **options
) -> Table:
    """As `fathom.aggregate`, by the workers of the Ray cluster that is connected.

    Files are text, also compressed; Parquet and Arrow files are for `fathom.aggregate`.
    With ``on_error="skip"`` refused records are counted (`Table.rejected`), and none is shown (`Table.rejects`).

    task_bytes   of a task; small files are packed
    records      cut between records: needed if quotes enclose line breaks, and reads all once before
    timeout      seconds in which no task ends, or the states do not come here, after which those left are
                 started, or they are asked for, a second time; None waits for ever
    retries      how often
    """
    import ray

    engine = _Engine(ray, retries)
    try:
        return _scale.run(
            engine, urls, task_bytes=task_bytes, records=records, timeout=timeout, retries=retries, options=options
        )
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
