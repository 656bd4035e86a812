"""What a cluster costs: processor time of everything that `fathom.dask`, `.ray` and `.spark` take beside the command's, on
this machine; the table of docs/scaling.md.

    python python/bench/clusters.py PROGRAM FILE [--runs 3] [--save samples.json]

FILE is one of lines `key;value`. Each engine runs in a process of its own, once with one aggregation and once with
several more; this program inherits whatever is left of their processes (prctl), so that the processor time of all of
them is known when the last has ended. Needs fathom, dask, distributed, ray and pyspark with Java.
"""

import argparse
import ctypes
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
SIZES = {"32 MiB": 32 << 20, "256 MiB": 256 << 20, "1 GiB": 1 << 30}
STATS = ["min", "mean", "max"]


def spent(command) -> tuple[float, float]:
    """Seconds of processor and of the clock of a command and of all that it leaves behind."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - start
    end = time.monotonic() + 30
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                assert time.monotonic() < end, f"{command}: something goes on running"
                time.sleep(0.05)
        except ChildProcessError:
            break
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def work(engine: str, path: str, task_bytes: int, times: int):
    """Starts a cluster of two workers, aggregates so often, and ends it."""
    import fathom

    options = {"stats": STATS, "task_bytes": task_bytes}
    if engine == "dask":
        import distributed

        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                for _ in range(times):
                    fathom.dask.aggregate(path, client=client, **options)
    elif engine == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        for _ in range(times):
            fathom.ray.aggregate(path, **options)
        ray.shutdown()
    else:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.executor.memory", "1g").getOrCreate()
        for _ in range(times):
            fathom.spark.aggregate(path, spark, **options)
        spark.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--more", type=int, default=4, help="further aggregations in the larger of two runs")
    parser.add_argument("--only", default="dask,ray,spark")
    parser.add_argument("--save")
    asked = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    samples = {"file_bytes": os.path.getsize(asked.file), "machine": platform.processor() or platform.machine()}
    command = [asked.program, "aggregate", "--threads", "2", "--stats", ",".join(STATS), asked.file]
    samples["command"] = []
    for _ in range(asked.runs):
        samples["command"].append(spent(command))
        for engine in asked.only.split(","):
            for size, task_bytes in SIZES.items():
                words = [sys.executable, __file__, "--work", engine, asked.file, str(task_bytes)]
                one, more = spent([*words, "1"]), spent([*words, str(1 + asked.more)])
                samples.setdefault(f"{engine} {size}", []).append([one, more])
    alone = statistics.median(cpu for cpu, _ in samples["command"])
    print(f"the command: {alone:.2f} s of processor for {samples['file_bytes'] / 1e9:.2f} GB")
    print("| | each aggregation | of the command's | and once |\n|---|--:|--:|--:|")
    for name, pairs in samples.items():
        if name in ("file_bytes", "machine", "command"):
            continue
        each = [(more[0] - one[0]) / asked.more for one, more in pairs]
        once = [one[0] - (more[0] - one[0]) / asked.more for one, more in pairs]
        ratio = statistics.median(each) / alone
        print(f"| {name} | {statistics.median(each):.2f} s | {ratio:.2f} | {statistics.median(once):.1f} s |")
    if asked.save:
        with open(asked.save, "w") as file:
            json.dump(samples, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
