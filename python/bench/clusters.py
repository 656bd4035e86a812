"""What a cluster costs: processor time of everything that `fathom.dask`, `.ray` and `.spark` take beside the command's, on
this machine, and the time that passes with one worker and with two; the tables of docs/scaling.md.

    python python/bench/clusters.py PROGRAM FILE [--runs 3] [--save samples.json]

FILE is one of lines `key;value`. Each engine starts in a process of its own, aggregates until it is warm, then several
times more, then a file of one line as often: what an aggregation costs to start. Counted is the processor time of all processes
that the engine has by then, which a variable in their environment tells. Needs fathom, dask, distributed, ray and pyspark with Java.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {"32 MiB": 32 << 20, "256 MiB": 256 << 20, "512 MiB": 512 << 20, "1 GiB": 1 << 30}
ALONE = "256 MiB"
STATS = ["min", "mean", "max"]
MARK = "FATHOM_BENCH_CLUSTERS"
#: Java compiles what it runs for some twenty aggregations.
WARM, MORE = 24, 6
#: The work is no Java: what is compiled without optimisation, by one thread, costs least.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def spent(command) -> float:
    """Seconds of processor of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def passed(command) -> float:
    """Seconds until a command ends."""
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def spent_so_far() -> float:
    """Seconds of processor of all processes with the mark, and of those they have seen the end of."""
    mark, ticks = f"{MARK}={os.environ[MARK]}".encode(), 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if mark not in environ.read().split(b"\0") and int(pid) != os.getpid():
                    continue
            with open(f"/proc/{pid}/stat") as stat:
                ticks += sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def work(engine: str, path: str, task_bytes: int, workers: int):
    """Starts a cluster, aggregates, and prints what it took to start, and for each aggregation."""
    import fathom

    options = {"stats": STATS, "task_bytes": task_bytes}
    if engine == "dask":
        import distributed

        cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        client = distributed.Client(cluster)
        measured(path, lambda path: fathom.dask.aggregate(path, client=client, **options))
        client.close()
        cluster.close()
    elif engine == "ray":
        import ray

        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        measured(path, lambda path: fathom.ray.aggregate(path, **options))
        ray.shutdown()
    else:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]").config("spark.ui.enabled", "false")
        builder.config("spark.executor.extraJavaOptions", JAVA).config("spark.driver.extraJavaOptions", JAVA)
        spark = builder.config("spark.executor.memory", "1g").getOrCreate()
        measured(path, lambda path: fathom.spark.aggregate(path, spark, **options))
        spark.stop()


def measured(path: str, aggregate):
    for _ in range(WARM):
        aggregate(path)
    warm, start = spent_so_far(), time.monotonic()
    for _ in range(MORE):
        aggregate(path)
    seconds, ended = (time.monotonic() - start) / MORE, spent_so_far()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as line:
        line.write("key;1\n")
        line.flush()
        for _ in range(MORE):
            aggregate(line.name)
    each, nothing = (ended - warm) / MORE, (spent_so_far() - ended) / MORE
    print(json.dumps({"each": each, "nothing": nothing, "once": warm - WARM * each, "seconds": seconds}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="dask,ray,spark")
    parser.add_argument("--save")
    asked = parser.parse_args()
    samples = {"file_bytes": os.path.getsize(asked.file), "machine": platform.machine(), "command": []}
    samples.update(threads={1: [], 2: []}, engines={})
    command = [asked.program, "aggregate", "--stats", ",".join(STATS), asked.file, "--threads"]
    cases = [(2, size) for size in SIZES] + [(1, ALONE)]
    for run in range(asked.runs):
        samples["command"] += [spent([*command, "2"]) for _ in range(len(cases))]
        for threads, seconds in samples["threads"].items():
            seconds.append(passed([*command, str(threads)]))
        for engine in asked.only.split(","):
            for workers, size in cases:
                words = [sys.executable, __file__, "--work", engine, asked.file, str(SIZES[size]), str(workers)]
                environment = {**os.environ, MARK: f"{os.getpid()}-{run}-{engine}-{size}-{workers}"}
                done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
                found = samples["engines"].setdefault(engine, {}).setdefault(f"{workers} workers, {size}", [])
                found.append(json.loads(done.stdout.splitlines()[-1]))
    alone = statistics.median(samples["command"])
    print(f"the command: {alone:.2f} s of processor for {samples['file_bytes'] / 1e9:.2f} GB")
    print("| | each aggregation | to start it | the rest, of the command's | to start, and warm | seconds |\n|---|--:|--:|--:|--:|--:|")
    for threads, seconds in samples["threads"].items():
        print(f"| the command, {threads} threads | | | | | {statistics.median(seconds):.2f} |")
    for engine, found in samples["engines"].items():
        for name, runs in found.items():
            columns = ("each", "nothing", "once", "seconds")
            each, nothing, once, seconds = (statistics.median(run[what] for run in runs) for what in columns)
            rest = (each - nothing) / alone
            print(f"| {engine}, {name} | {each:.2f} s | {nothing:.2f} s | {rest:.2f} | {once:.1f} s | {seconds:.2f} |")
    if asked.save:
        with open(asked.save, "w") as file:
            json.dump(samples, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
