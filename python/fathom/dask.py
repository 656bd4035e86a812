"""Aggregation on a Dask cluster: the same result as `fathom.aggregate`, byte for byte.

    client = distributed.Client("tcp://scheduler:8786")
    fathom.dask.aggregate(["/data/a.csv", "/data/b.csv"], client=client, by="host", values="ms")

fathom must be installed on the workers and the scheduler, and the paths be theirs, too (a shared file system).
"""

from __future__ import annotations

import asyncio
import operator
import time

from fathom import _scale
from fathom._table import Table

__all__ = ["aggregate"]


#: Two classes before Python 3.11.
_TIMEOUTS = (TimeoutError, asyncio.TimeoutError)


class _Engine:
    def __init__(self, client, retries):
        self.client, self.retries = client, retries

    def submit(self, function, *arguments):
        # Not pure: a second try is a task of its own.
        return self.client.submit(function, *arguments, pure=False, retries=operator.index(self.retries))

    def wait(self, futures, timeout):
        from distributed import wait

        try:
            done = wait(futures, timeout=timeout, return_when="FIRST_COMPLETED").done
        except _TIMEOUTS:
            return [future for future in futures if future.done()]
        return list(done)

    def held(self, future):
        # One that was lost meanwhile is found again for whoever needs it.
        if future.status in ("error", "cancelled"):
            future.result()
        return future

    def parts(self, whole, of):
        return [self.client.submit(operator.getitem, whole, at, pure=False) for at in range(of)]

    def results(self, futures, timeout):
        try:
            return [future.result(timeout) for future in futures]
        except _TIMEOUTS:
            if any(future.status == "error" for future in futures):
                raise
            return None

    def cancel(self, future):
        future.cancel()

    def late(self, seconds):
        self.client.run_on_scheduler(_forget_silent, seconds=seconds)


#: Seconds, and intervals of heartbeats, for which a worker may say nothing.
_SILENT_SECONDS, _SILENT_BEATS = 10, 10


async def _forget_silent(seconds, dask_scheduler=None):
    """Gives up workers that have said nothing for so long: others do again what they had.

    Healthy ones are heard of with each heartbeat, of which there are fewer the more workers there are.
    """
    from distributed.scheduler import heartbeat_interval

    workers = dask_scheduler.workers
    seconds = max(seconds, _SILENT_SECONDS, _SILENT_BEATS * heartbeat_interval(len(workers)))
    silent = [address for address, worker in workers.items() if time.time() - worker.last_seen > seconds]
    for address in silent:
        await dask_scheduler.remove_worker(address, stimulus_id=f"fathom-late-{address}")


def aggregate(
    urls, *, client=None, task_bytes: int = _scale.TASK_BYTES, records: bool = False, timeout: float | None = None,
    retries: int = 3, **options,
) -> Table:
    """As `fathom.aggregate`, by the workers of a Dask cluster (by default that of the current client).

    Files are text, also compressed; Parquet and Arrow files are for `fathom.aggregate`.
    With ``on_error="skip"`` refused records are counted (`Table.rejected`), and none is shown (`Table.rejects`).

    task_bytes   of a task; small files are packed
    records      cut between records: needed if quotes enclose line breaks, and reads all once before
    timeout      seconds in which no task ends, or a state does not come here, after which those left are
                 started, or it is asked for, a second time, and workers that say nothing for as long, and for
                 ten seconds or more, are given up; None waits for ever
    retries      how often
    """
    if client is None:
        from distributed import get_client

        client = get_client()
    engine = _Engine(client, retries)
    return _scale.run(
        engine, urls, task_bytes=task_bytes, records=records, timeout=timeout, retries=retries, options=options
    )
