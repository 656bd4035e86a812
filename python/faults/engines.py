"""`fathom.dask`, `fathom.ray` and `fathom.spark` under faults; `cargo xtask clusters` runs it.

    python engines.py PROGRAM [--runs N] [--only dask-killed,ray,…]

Each fault is brought about on a cluster of two worker processes, on the machine itself. Every run must give the
bytes of the command, or the error that is asked for; how many did is printed.
"""

import argparse
import atexit
import os
import signal
import socket
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
plain_partials = fathom.spark._Partials


def once(task, name):
    """Whether nobody has left this mark for these inputs before."""
    try:
        os.close(os.open(os.path.join(os.path.dirname(task[0].path), name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def dawdling(task, query):
    """A task that takes long enough to be hit."""
    once(task, "running")
    time.sleep(SECONDS)
    return plain(task, query)


def hanging_once(task, query):
    """A task whose first try hangs, if it is the first of all."""
    if task[0].number == 0 and task[0].start == 0 and once(task, "hung"):
        time.sleep(3600)
    return dawdling(task, query)


class Patched:
    """What `fathom.spark` runs on executors, with tasks that take long enough to be hit, or hang."""

    def __init__(self, partial, states):
        self.partial, self.states = partial, states

    def __call__(self, batches):
        _scale.partial = self.partial
        yield from self.states(batches)


class Fault:
    """What happens once, some time after the first task began."""

    def __init__(self, seconds, given, function):
        self.seconds, self.mark, self.function = seconds, given.mark("running"), function
        self.thread, self.happened = threading.Thread(target=self.call), False

    def call(self):
        end = time.monotonic() + 60
        while not os.path.exists(self.mark) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(self.seconds)
        self.happened = bool(self.function())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join()


def strike(pids, number=signal.SIGKILL):
    """Sends a signal to the first of these processes."""
    for pid in pids:
        os.kill(pid, number)
        return True
    return False


class Input:
    """Some megabytes in three files, and what the command says of them."""

    def __init__(self, program, folder):
        self.folder, self.paths = folder, []
        for seed, rows in enumerate(["150k", "30k", "1k"], 1):
            path = os.path.join(folder, f"{seed}.txt")
            words = ["generate", "measurements", "--rows", rows, "--seed", str(seed), "-o", path]
            subprocess.run([program, *words], check=True, capture_output=True)
            self.paths.append(path)
        words = ["aggregate", "--format", "csv", "--stats", ",".join(STATS), *self.paths]
        self.expected = subprocess.run([program, *words], check=True, capture_output=True).stdout

    def mark(self, name):
        return os.path.join(self.folder, name)

    def fresh(self):
        """Nothing happened yet."""
        for name in ("running", "hung"):
            if os.path.exists(self.mark(name)):
                os.remove(self.mark(name))

    def changed(self):
        """One file with another time, as if it had been written again."""
        os.utime(self.paths[0])
        return True


# More tasks than are merged at a time.
OPTIONS = {"stats": STATS, "task_bytes": 60_000}


class Dask:
    """A cluster of two workers with a nanny each, for all runs of a fault."""

    def __init__(self):
        import dask
        import distributed

        # Otherwise a local cluster ends the worker that its nanny started in place of a lost one.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
        self.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        self.client = distributed.Client(self.cluster)

    def ready(self):
        self.client.wait_for_workers(2, timeout=60)

    def fresh(self):
        """Ends tasks that hang: cancelled ones go on in their worker, for which a restart may wait for minutes."""
        self.close()
        self.__init__()

    def pids(self):
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return list(self.client.run(os.getpid, workers=list(workers)).values())

    def run(self, paths, timeout=None, **more):
        return fathom.dask.aggregate(paths, client=self.client, timeout=timeout, **{**OPTIONS, **more})

    def close(self):
        self.client.close()
        self.cluster.close()


class Apart(Dask):
    """The same with a scheduler that is a process of its own, and can be killed."""

    def __init__(self):
        import distributed

        self.processes = []
        atexit.register(self.end)
        port = free_port()
        self.scheduler = self.start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        for _ in range(2):
            self.start("dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard")
        self.client = distributed.Client(f"tcp://127.0.0.1:{port}", timeout=60)

    def ready(self):
        if self.scheduler.poll() is not None:
            self.close()
            self.__init__()
        super().ready()

    def start(self, name, *words):
        # `dask` does not run as a module of distributed in all versions: its functions do.
        code = f"import sys; from distributed.cli.{name} import main; sys.argv[0] = {name!r}; main()"
        command = [sys.executable, "-c", code, *words]
        self.processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.processes[-1]

    def close(self):
        self.client.close(timeout=1)
        self.end()

    def end(self):
        while self.processes:
            process = self.processes.pop()
            process.kill()
            process.wait()


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

    def run(self, paths, timeout=None, **more):
        return fathom.ray.aggregate(paths, timeout=timeout, **{**OPTIONS, **more})

    def close(self):
        self.ray.shutdown()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def running(words):
    """The processes with these words in their command lines."""
    listed = subprocess.run(["pgrep", "-f", words], capture_output=True, text=True)
    return [int(pid) for pid in listed.stdout.split()]


class Spark:
    """A standalone master and two workers, with an executor each, as processes of their own."""

    EXECUTOR = "CoarseGrainedExecutorBackend"

    def __init__(self):
        import pyspark

        here = os.path.dirname(os.path.abspath(__file__))
        os.environ["PYTHONPATH"] = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ["SPARK_HOME"] = self.home = os.path.dirname(pyspark.__file__)
        self.work, self.processes = tempfile.TemporaryDirectory(prefix="fathom-spark-"), []
        atexit.register(self.end)
        port = free_port()
        self.master = self.start("deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        # On hosts of their own: nothing is started a second time on the host where it hangs.
        for host in ("127.0.0.1", "127.0.0.2"):
            words = ["--cores", "1", "--memory", "1g", "--host", host, "--webui-port", "0"]
            self.start("deploy.worker.Worker", *words, "--work-dir", self.work.name, f"spark://127.0.0.1:{port}")
        self.url = f"spark://127.0.0.1:{port}"
        self.spark = self.session()
        self.spark.range(1).count()

    def start(self, name, *words):
        program = os.path.join(self.home, "bin", "spark-class")
        command = [program, f"org.apache.spark.{name}", *words]
        log = open(os.path.join(self.work.name, "log"), "ab")
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    SETTINGS = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "512m",
        "spark.executor.heartbeatInterval": "1s",
        "spark.network.timeout": "6s",
        "spark.network.timeoutInterval": "2s",
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.minTaskRuntime": "2s",
    }

    def session(self):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(self.url)
        for name, value in self.SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        return spark

    def ready(self):
        if self.master.poll() is not None:
            self.close()
            self.__init__()
        end = time.monotonic() + 60
        while len(running(self.EXECUTOR)) != 2:
            assert time.monotonic() < end, "there are no two executors"
            time.sleep(0.1)

    def fresh(self):
        """Speculation ends what hangs."""

    def pids(self):
        return running(self.EXECUTOR)

    def python_pids(self):
        """The forks of the daemon that an executor has for Python."""
        pids = running("pyspark.daemon")

        def parent(pid):
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    return int(stat.read().rsplit(")", 1)[1].split()[1])
            except FileNotFoundError:
                return None

        return [pid for pid in pids if parent(pid) in pids]

    def run(self, paths, timeout=None, **more):
        fathom.spark._Partials = lambda tasks, query: Patched(_scale.partial, plain_partials(tasks, query))
        return fathom.spark.aggregate(paths, self.spark, **{**OPTIONS, **more})

    def close(self):
        self.spark.stop()
        self.end()
        self.work.cleanup()

    def end(self):
        while self.processes:
            process = self.processes.pop()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Connect(Spark):
    """The same behind a server that the driver reaches by Spark Connect."""

    def session(self):
        from pyspark.sql import SparkSession

        port = free_port()
        settings = {**self.SETTINGS, "spark.connect.grpc.binding.port": port, "spark.connect.grpc.binding.address": "127.0.0.1"}
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        connect = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.start("deploy.SparkSubmit", "--class", connect, "--master", self.url, *words, "spark-internal")
        end = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, "no server of Spark Connect"
            time.sleep(0.2)
        return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()


ENGINES = {"dask": Dask, "ray": Ray, "spark": Spark, "connect": Connect, "apart": Apart}


def nothing(engine, given):
    """Fewer tasks than are merged at a time, and more."""
    few = engine.run(given.paths, task_bytes=200_000)
    assert few.format("csv") == given.expected, "of few tasks"
    return engine.run(given.paths)


def many_keys():
    """From now on, the keys there are count as many."""
    _scale.MANY_KEYS, _scale.PARTITION_KEYS = 100, 64


def many(engine, given):
    """As many keys as call for a merge by partitions of them."""
    many_keys()
    return engine.run(given.paths)


def struck(engine, given, pids, delays, number=signal.SIGKILL, timeout=None):
    """The table of a run in which a signal reaches the first of some processes, so many delays after it began."""
    with Fault(SECONDS * delays, given, lambda: strike(pids(), number)) as fault:
        table = engine.run(given.paths, timeout)
    assert fault.happened, "nobody was struck"
    return table


def killed(engine, given):
    """A worker is killed in the middle of its tasks; what it held is gone, too."""
    pids = engine.pids()
    return struck(engine, given, lambda: pids, 4)


def holding(engine, given):
    """A worker is killed when it holds what most tasks found; they are merged by partitions."""
    many_keys()
    pids = engine.pids()
    return struck(engine, given, lambda: pids, 12)


def python(engine, given):
    """Of a worker, the process that runs Python is killed."""
    return struck(engine, given, engine.python_pids, 2)


def master(engine, given):
    """What schedules the application is killed, and the application goes on."""
    return struck(engine, given, lambda: [engine.master.pid], 2)


def scheduler(engine, given):
    """What schedules is killed, and with it all that it knew: an error, and no waiting for ever."""
    with Fault(SECONDS * 4, given, lambda: strike([engine.scheduler.pid])) as fault:
        try:
            engine.run(given.paths)
        except Exception as error:  # noqa: BLE001: what the engine says
            assert fault.happened and type(error).__name__ in ERRORS, repr(error)
            return None
    raise AssertionError("there was a result, although nobody could know it")


#: What Dask says of a scheduler that is gone.
ERRORS = ("CancelledError", "FutureCancelledError", "CommClosedError", "FuturesCancelledError", "TimeoutError")


def stopped(engine, given):
    """A worker says nothing any more, but does not end; a timeout gives it up."""
    pids = engine.pids()
    table = struck(engine, given, lambda: pids, 4, signal.SIGSTOP, timeout=5)
    for pid in pids[:1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return table


def hung(engine, given):
    """The first try of a task never ends; a second one is started beside it."""
    _scale.partial = hanging_once
    table = engine.run(given.paths, timeout=10)
    assert os.path.exists(given.mark("hung")), "nothing hung"
    engine.fresh()
    return table


def changed(engine, given):
    """A file changes in the middle of the run: an error that names it."""
    with Fault(SECONDS * 2, given, given.changed):
        try:
            engine.run(given.paths)
        except Exception as error:  # noqa: BLE001: every engine wraps it in its own
            assert f"{given.paths[0]} changed between two states" in str(error), repr(error)
            return None
    raise AssertionError("a file changed, and nobody saw it")


FAULTS = {
    function.__name__: function
    for function in (nothing, many, killed, holding, python, master, scheduler, stopped, hung, changed)
}
CASES = {
    "dask": ["nothing", "many", "killed", "holding", "stopped", "changed", "hung"],
    "apart": ["scheduler"],
    "ray": ["nothing", "many", "killed", "holding", "stopped", "changed", "hung"],
    "spark": ["nothing", "many", "killed", "holding", "python", "stopped", "hung", "changed", "master"],
    "connect": ["nothing", "many", "killed", "holding", "python", "stopped", "hung", "changed"],
}
MANY_KEYS, PARTITION_KEYS = _scale.MANY_KEYS, _scale.PARTITION_KEYS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default=",".join(CASES))
    asked = parser.parse_args()
    cases = []
    for word in asked.only.split(","):
        engine, _, fault = word.partition("-")
        cases += [(engine, fault) for fault in ([fault] if fault else CASES[engine])]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fathom-clusters-") as folder:
        given, engine, name = Input(asked.program, folder), None, None
        for wanted, fault in cases:
            case = f"{wanted}-{fault}"
            if wanted != name:
                if engine:
                    engine.close()
                engine, name = ENGINES[wanted](), wanted
            right = 0
            for _ in range(asked.runs):
                _scale.partial = dawdling
                _scale.MANY_KEYS, _scale.PARTITION_KEYS = MANY_KEYS, PARTITION_KEYS
                given.fresh()
                engine.ready()
                start = time.monotonic()
                try:
                    table = FAULTS[fault](engine, given)
                except Exception as error:  # noqa: BLE001: what it says is the result
                    print(f"{case}: {type(error).__name__}: {str(error)[:500]}", flush=True)
                    continue
                finally:
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
