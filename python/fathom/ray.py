"""Aggregation on a Ray cluster: the same result as `fathom.aggregate`, byte for byte.

    ray.init(address="auto")
    fathom.ray.aggregate(["/data/a.csv", "/data/b.csv"], by="host", values="ms")

fathom must be installed on the nodes, and the paths be theirs, too (a shared file system).
"""

from __future__ import annotations

from fathom import _scale

__all__ = ["aggregate"]


class _Engine:
    def __init__(self, ray, retries):
        self.ray, self.retries = ray, retries
        # What was split is an object for each part, and known by its first.
        self.split = {}

    def submit(self, function, *arguments):
        options = {"max_retries": self.retries, "name": f"fathom.{function.__name__}"}
        if function is _scale.split:
            parts = self.ray.remote(_call).options(num_returns=arguments[1], **options).remote(function, *arguments)
            self.split[parts[0]] = parts
            return parts[0]
        call = self.ray.remote(_call).options(**options)
        # References inside lists are not followed by Ray: those of a merge are handed over one by one.
        if function is _scale.merge:
            return call.remote(_merge, *arguments[0])
        return call.remote(function, *arguments)

    def wait(self, futures, timeout):
        return self.ray.wait(futures, num_returns=1, timeout=timeout)[0]

    def check(self, future):
        # Raises what the task raised; the state is small.
        self.ray.get(future)

    def parts(self, whole, of):
        return self.split.pop(whole)

    def results(self, futures):
        return self.ray.get(futures)

    def cancel(self, future):
        self.ray.cancel(future, force=True)

    def late(self, seconds):
        """Ray sees by itself which processes ended; what hangs is cancelled in the end."""


def _call(function, *arguments):
    return function(*arguments)


def _merge(*states):
    return _scale.merge(states)


def aggregate(urls, *, task_bytes=_scale.TASK_BYTES, records=False, timeout=None, retries=3, **options):
    """As `fathom.aggregate`, by the workers of the Ray cluster that is connected.

    task_bytes   of a task; small files are packed
    records      cut between records: needed if quotes enclose line breaks, and reads all once before
    timeout      seconds in which no task ends, after which those left are started a second time; None waits
                 for ever
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
