"""`fathom.dask`, `fathom.ray` and `fathom.spark` under faults; `cargo xtask clusters` runs it.

    python engines.py PROGRAM [--runs N] [--only dask-killed,ray-hung,…]

Each fault is brought about on a cluster of two worker processes, on the machine itself. Every run must give the
bytes of the command, or the error that is asked for; how many did is printed.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import fathom
from fathom import _scale

STATS = ["min", "mean", "max", "count", "p99", "last"]
SECONDS = 0.15
plain = _scale.partial


def dawdling(task, query):
    """A task that takes long enough to be hit."""
    time.sleep(SECONDS)
    return plain(task, query)


def hanging_once(task, query):
    """A task whose first try hangs, if it is the first of all."""
    mark = task[0].path + ".hung"
    if task[0].number == 0 and task[0].start == 0:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return plain(task, query)
        time.sleep(3600)
    time.sleep(SECONDS)
    return plain(task, query)


class Fault:
    """What happens some time after the start, once."""

    def __init__(self, seconds, function):
        self.timer, self.happened = threading.Timer(seconds, self.call), False
        self.function = function

    def call(self):
        self.happened = bool(self.function())

    def __enter__(self):
        self.timer.start()
        return self

    def __exit__(self, *_):
        self.timer.join()


def strike(pids, number=signal.SIGKILL):
    """Sends a signal to the first of these processes."""
    for pid in pids:
        os.kill(pid, number)
        return True
    return False


class Input:
    """Some megabytes in three files, and what the command says of them."""

    def __init__(self, program, folder):
        self.paths = []
        for seed, rows in enumerate(["150k", "30k", "1k"], 1):
            path = os.path.join(folder, f"{seed}.txt")
            words = ["generate", "measurements", "--rows", rows, "--seed", str(seed), "-o", path]
            subprocess.run([program, *words], check=True, capture_output=True)
            self.paths.append(path)
        words = ["aggregate", "--format", "csv", "--stats", ",".join(STATS), *self.paths]
        self.expected = subprocess.run([program, *words], check=True, capture_output=True).stdout

    def changed(self):
        """One file with another time, as if it had been written again."""
        os.utime(self.paths[0])
        return True


OPTIONS = {"stats": STATS, "task_bytes": 100_000}


class Dask:
    """A cluster of two workers with a nanny each, for all runs of a fault."""

    def __init__(self):
        import distributed

        self.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        self.client = distributed.Client(self.cluster)

    def ready(self):
        self.client.wait_for_workers(2, timeout=60)

    def fresh(self):
        """Ends tasks that hang: cancelled ones go on in their worker."""
        self.client.restart()

    def pids(self):
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return list(self.client.run(os.getpid, workers=list(workers)).values())

    def run(self, paths, timeout=None):
        return fathom.dask.aggregate(paths, client=self.client, timeout=timeout, **OPTIONS)

    def close(self):
        self.client.close()
        self.cluster.close()


class Ray:
    """A node with two processors."""

    def __init__(self):
        import ray

        here = os.path.dirname(os.path.abspath(__file__))
        path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
        environment = {"env_vars": {"PYTHONPATH": path}}
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
        self.ray = ray

    def ready(self):
        self.pids()

    def fresh(self):
        """Cancelled tasks have ended with their processes."""

    def pids(self):
        @self.ray.remote
        def pid():
            time.sleep(0.2)
            return os.getpid()

        return list(set(self.ray.get([pid.remote() for _ in range(2)])))

    def run(self, paths, timeout=None):
        return fathom.ray.aggregate(paths, timeout=timeout, **OPTIONS)

    def close(self):
        self.ray.shutdown()


class Spark:
    """Two executors of a process each, on a master of their own."""

    def __init__(self):
        from pyspark.sql import SparkSession

        here = os.path.dirname(os.path.abspath(__file__))
        os.environ["PYTHONPATH"] = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.speculation", "true").config("spark.speculation.interval", "200ms")
        builder = builder.config("spark.speculation.minTaskRuntime", "2s")
        self.spark = builder.config("spark.executor.memory", "1g").getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def ready(self):
        self.spark.range(2).count()

    def pids(self):
        listed = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True)
        return [int(pid) for pid in listed.stdout.split()]

    def run(self, paths, timeout=None):
        return fathom.spark.aggregate(paths, self.spark, **OPTIONS)

    def close(self):
        self.spark.stop()


ENGINES = {"dask": Dask, "ray": Ray, "spark": Spark}


def nothing(engine, given):
    return engine.run(given.paths)


def killed(engine, given):
    """A worker is killed in the middle of its tasks; what it held is gone, too."""
    pids = engine.pids()
    with Fault(SECONDS * 4, lambda: strike(pids)) as fault:
        table = engine.run(given.paths)
    assert fault.happened, "nobody was killed"
    return table


def stopped(engine, given):
    """A worker says nothing any more, but does not end; a timeout gives it up."""
    pids = engine.pids()
    with Fault(SECONDS * 4, lambda: strike(pids, signal.SIGSTOP)) as fault:
        table = engine.run(given.paths, timeout=5)
    assert fault.happened, "nobody was stopped"
    for pid in pids[:1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return table


def hung(engine, given):
    """The first try of a task never ends; a second one is started beside it."""
    for path in given.paths:
        if os.path.exists(path + ".hung"):
            os.remove(path + ".hung")
    engine.fresh()
    _scale.partial = hanging_once
    return engine.run(given.paths, timeout=10)


def changed(engine, given):
    """A file changes in the middle of the run: an error that names it."""
    with Fault(SECONDS * 4, given.changed):
        try:
            engine.run(given.paths)
        except Exception as error:  # noqa: BLE001: every engine wraps it in its own
            assert "changed between two states" in str(error), repr(error)
            return None
    raise AssertionError("a file changed, and nobody saw it")


FAULTS = {"nothing": nothing, "killed": killed, "stopped": stopped, "hung": hung, "changed": changed}
CASES = [f"dask-{fault}" for fault in ("nothing", "killed", "stopped", "changed")]
CASES += [f"ray-{fault}" for fault in ("nothing", "killed", "hung", "changed")]
CASES += ["spark-nothing"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default=",".join(CASES))
    asked = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fathom-clusters-") as folder:
        given, engine, name = Input(asked.program, folder), None, None
        for case in asked.only.split(","):
            wanted, fault = case.split("-")
            if wanted != name:
                if engine:
                    engine.close()
                engine, name = ENGINES[wanted](), wanted
            right = 0
            for _ in range(asked.runs):
                _scale.partial = dawdling
                engine.ready()
                start = time.monotonic()
                try:
                    table = FAULTS[fault](engine, given)
                except Exception as error:  # noqa: BLE001: what it says is the result
                    print(f"{case}: {type(error).__name__}: {str(error)[:500]}", flush=True)
                    continue
                seconds = time.monotonic() - start
                if table is None or table.format("csv") == given.expected:
                    right += 1
                else:
                    print(f"{case}: WRONG BYTES after {seconds:.1f} s", flush=True)
                    for shown, expected in zip(table.format("csv").splitlines(), given.expected.splitlines()):
                        if shown != expected:
                            print(f"  {shown} instead of {expected}", flush=True)
                            break
            print(f"{case}: right in {right} of {asked.runs} runs, the last in {seconds:.1f} s", flush=True)
            failed += asked.runs - right
        if engine:
            engine.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    # Workers import what they run by name.
    import engines

    engines.main()
