"""fathom against DuckDB, Polars, ClickHouse, xan, Miller and jq: questions to one file, each program started anew.

    python questions.py FATHOM FOLDER [GIGABYTES [ROUNDS [SAVED.json]]]

makes the files in FOLDER once (a CSV file of ten columns, all quoted; the same as lines of JSON, packed by
gzip, and as Parquet), checks that all programs give the same answer, and then starts each in turn, ROUNDS
times. The table has medians of processor time, of the process and its children; wall time is saved, too. Every
program has as many threads as this machine has processors, reads only the columns it needs where it can
be told so, and knows their types. ClickHouse is the library of `pip install chdb`; xan, Miller and jq take part
where they are installed, the last two on a file of a tenth of the records, which is said.

    python questions.py answer PROGRAM QUESTION FILE

prints the answer of one program, which is what is timed.
"""

import csv
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import time

THREADS = len(os.sched_getaffinity(0))

# How a record comes about from its number alone, in DuckDB's SQL; about 128 bytes in quotes.
RECORDS = """
select 100000000 + i as id,
  'host-' || lpad((hash(i) % 40)::varchar, 3, '0') || '.example.org' as host,
  '/api/v1/' || ['users', 'orders', 'items', 'search', 'login', 'cart', 'pay', 'ship', 'stock', 'news']
    [1 + (hash(i + 1) % 10)::bigint] || '/' || (hash(i + 2) % 30) as path,
  ['GET', 'POST', 'PUT'][1 + (hash(i + 3) % 3)::bigint] as method,
  if(hash(i + 4) % 100 = 0, 500 + (hash(i + 5) % 4)::bigint, 200 + (hash(i + 5) % 5)::bigint) as status,
  round(20 * exp(sqrt(-2 * ln((1 + hash(i + 6) % 1000000) / 1000001)) * cos(2 * pi() * (hash(i + 7) % 1000000) / 1000000)), 3)
    as ms,
  hash(i + 8) % 100000 as bytes,
  's' || (hash(i + 9) % 1000) as shop,
  'u' || (hash(i + 10) % 1000000) as "user",
  timestamp '2026-01-01 00:00:00' + to_seconds(i // 100) as time
from range({count}) t(i)
"""
BYTES = 128.4
TYPES = {
    "id": "BIGINT", "host": "VARCHAR", "path": "VARCHAR", "method": "VARCHAR", "status": "INTEGER",
    "ms": "DOUBLE", "bytes": "INTEGER", "shop": "VARCHAR", "user": "VARCHAR", "time": "TIMESTAMP",
}  # fmt: skip

# A question: the columns of its key, its statistics, its condition, and the file it is put to.
QUESTIONS = {
    "two columns as key": (["host", "path"], ["min", "mean", "max"], False, "csv"),
    "p50 and p99 of 1,000 keys": (["shop"], ["p50", "p99"], False, "csv"),
    "p50 and p99 of 1,000,000 keys": (["user"], ["p50", "p99"], False, "csv"),
    "one record of a hundred": (["host"], ["min", "mean", "max"], True, "csv"),
    "lines of JSON": (["host"], ["min", "mean", "max"], False, "ndjson"),
    "gzip": (["host"], ["min", "mean", "max"], False, "csv.gz"),
    "Parquet": (["host"], ["min", "mean", "max"], False, "parquet"),
}


def by_fathom(program, path, keys, stats, errors, kind):
    command = [program, "aggregate", path, "--by", ",".join(keys), "--value", "ms", "--stats", ",".join(stats)]
    command += ["--format", "csv", "--quotes", "yes"] if kind.startswith("csv") else ["--format", "csv"]
    command += ["--format-in", "ndjson"] if kind == "ndjson" else []
    return command + (["--where", "status >= 500"] if errors else [])


SQL = {"min": "min(ms)", "mean": "avg(ms)", "max": "max(ms)"}


def source(path, kind):
    if kind == "parquet":
        return f"read_parquet('{path}')"
    columns = ", ".join(f"'{name}': '{of}'" for name, of in TYPES.items())
    if kind == "ndjson":
        columns = "'host': 'VARCHAR', 'ms': 'DOUBLE'"
        return f"read_json('{path}', format='newline_delimited', columns={{{columns}}})"
    return f"read_csv('{path}', header=true, quote='\"', columns={{{columns}}})"


def by_duckdb(path, keys, stats, errors, kind):
    import duckdb

    duckdb.sql(f"set threads = {THREADS}; set preserve_insertion_order = false")
    key = ", ".join(f'"{name}"' for name in keys)
    told = [SQL.get(name) or f"quantile_cont(ms, 0.{name[1:]})" for name in stats]
    condition = "where status >= 500" if errors else ""
    query = f"select {key}, {', '.join(told)} from {source(path, kind)} {condition} group by all order by all"
    duckdb.sql(f"copy ({query}) to '/dev/stdout' (header false)")


def by_polars(path, keys, stats, errors, kind):
    os.environ["POLARS_MAX_THREADS"] = str(THREADS)
    import polars

    if kind == "parquet":
        frame = polars.scan_parquet(path)
    elif kind == "ndjson":
        frame = polars.scan_ndjson(path, schema={"host": polars.String, "ms": polars.Float64})
    else:
        kinds = {"VARCHAR": polars.String, "DOUBLE": polars.Float64, "TIMESTAMP": polars.String}
        schema = {name: kinds.get(of, polars.Int64) for name, of in TYPES.items()}
        frame = polars.scan_csv(path, schema=schema)
    value = polars.col("ms")
    told = {"min": value.min(), "mean": value.mean(), "max": value.max()}
    told = [
        (told[name] if name in told else value.quantile(float("0." + name[1:]), "linear")).alias(name)
        for name in stats
    ]
    frame = frame.filter(polars.col("status") >= 500) if errors else frame
    frame.group_by(keys).agg(told).sort(keys).collect(engine="streaming").write_csv(sys.stdout)


def by_clickhouse(path, keys, stats, errors, kind):
    import chdb

    kinds = {"VARCHAR": "String", "DOUBLE": "Float64", "TIMESTAMP": "String"}
    columns = {"host": "VARCHAR", "ms": "DOUBLE"} if kind == "ndjson" else TYPES
    columns = ", ".join(f"{name} {kinds.get(of, 'Int64')}" for name, of in columns.items())
    form = {"parquet": "Parquet", "ndjson": "JSONEachRow"}.get(kind, "CSVWithNames")
    table = f"file('{path}', '{form}')" if kind == "parquet" else f"file('{path}', '{form}', '{columns}')"
    told = [SQL.get(name) or f"quantileExactInclusive(0.{name[1:]})(ms)" for name in stats]
    condition = "where status >= 500" if errors else ""
    key = ", ".join(f"`{name}`" for name in keys)
    query = f"select {key}, {', '.join(told)} from {table} {condition} group by {key} order by {key}"
    settings = f" settings max_threads = {THREADS}, input_format_skip_unknown_fields = 1"
    sys.stdout.buffer.write(chdb.query(query + settings, "CSV").bytes())


def by_xan(path, keys, stats, errors, kind):
    told = [f"{name}(ms)" for name in stats]
    # Of one file that is not packed several threads read parts.
    threads = ["-t", str(THREADS)] if kind == "csv" and not errors else []
    command = ["xan", "groupby", *threads, ",".join(keys), ", ".join(told)]
    if errors:
        kept = shlex.join(["xan", "filter", "status >= 500", path])
        return ["sh", "-c", f"{kept} | {shlex.join(command)}"]
    return [*command, path]


def by_miller(path, keys, stats, errors, kind):
    form = {"csv": ["--csv"], "csv.gz": ["--csv", "--gzin"], "ndjson": ["--ijsonl", "--ocsv"]}[kind]
    condition = ["filter", "$status >= 500", "then"] if errors else []
    interpolated = ["-i"] if "p50" in stats else []
    verb = ["stats1", *interpolated, "-a", ",".join(stats), "-f", "ms", "-g", ",".join(keys)]
    return ["mlr", *form, *condition, *verb, "then", "sort", "-f", ",".join(keys), path]


def by_jq(path, keys, stats, errors, kind):
    program = (
        "reduce inputs as $r ({}; .[$r.host] |= if . == null then [$r.ms, $r.ms, 1, $r.ms] else"
        " [([.[0], $r.ms] | min), .[1] + $r.ms, .[2] + 1, ([.[3], $r.ms] | max)] end)"
        ' | to_entries | sort_by(.key)[] | [.key, .value[0], .value[1] / .value[2], .value[3]] | @csv'
    )
    return ["jq", "-rn", program, path]


IN_PROCESS = {"DuckDB": by_duckdb, "Polars": by_polars, "ClickHouse": by_clickhouse}
STARTED = {"xan": ("xan", by_xan), "Miller": ("mlr", by_miller), "jq": ("jq", by_jq)}
READS = {"xan": ("csv", "csv.gz"), "Miller": ("csv", "csv.gz", "ndjson"), "jq": ("ndjson",)}
SLOW = ("Miller", "jq")


def commands(fathom, question, folder) -> dict:
    """What each program is started by; the slow ones on the small file."""
    _, stats, _, kind = QUESTIONS[question]
    large, small = (str(folder / f"{size}.{kind}") for size in ("large", "small"))
    found = {"fathom": by_fathom(fathom, large, *QUESTIONS[question])}
    for name in IN_PROCESS:
        found[name] = [sys.executable, __file__, "answer", name, question, large]
    for name, (program, command) in STARTED.items():
        # Quantiles of xan are none of those between two values.
        fits = kind in READS[name] and (name != "xan" or "p50" not in stats)
        if shutil.which(program) and fits:
            found[name] = command(small if name in SLOW else large, *QUESTIONS[question])
    return found


def rows(text: str, keys: int) -> dict:
    """Numbers by key, without a line of heads."""
    table = [row for row in csv.reader(text.splitlines()) if row]
    table = table[1:] if not table[0][-1].replace(".", "").isdigit() else table
    return {tuple(row[:keys]): [float(number) for number in row[keys:]] for row in table}


def agree(question, fathom, folder):
    """All programs say the same, to as many digits as doubles have."""
    keys, *_, kind = QUESTIONS[question]
    expected = {}
    for name, command in commands(fathom, question, folder).items():
        found = rows(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout, len(keys))
        size = "small" if name in SLOW else "large"
        if size not in expected:
            path = str(folder / f"{size}.{kind}")
            command = by_fathom(fathom, path, *QUESTIONS[question])
            text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
            expected[size] = rows(text, len(keys))
        assert found.keys() == expected[size].keys(), f"{name}, {question}: other keys"
        for key, numbers in found.items():
            near = zip(numbers, expected[size][key], strict=True)
            assert all(abs(a - b) <= 1e-5 * abs(b) for a, b in near), f"{name}, {question}, {key}: {numbers}"


def timed(command) -> dict:
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return {
        "wall": time.perf_counter() - start,
        "processor": used.ru_utime + used.ru_stime,
    }


def make(folder, gigabytes):
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    for size, share in (("large", 1), ("small", 0.1)):
        table = RECORDS.format(count=int(gigabytes * 1e9 * share / BYTES))
        path = folder / f"{size}.csv"
        if not path.exists():
            duckdb.sql(f"copy ({table}) to '{path}' (header, force_quote *)")
            duckdb.sql(f"copy ({table}) to '{folder}/{size}.ndjson' (format json)")
            duckdb.sql(f"copy ({table}) to '{folder}/{size}.parquet' (compression snappy)")
            subprocess.run(f"gzip -6 -c '{path}' > '{path}.gz'", shell=True, check=True)


PROGRAMS = ["fathom", *IN_PROCESS, *STARTED]


def shown(question, samples):
    """A row: processor seconds, and how many times those of fathom; of the slow ones for as many records."""
    cells, own = [], None
    for name in PROGRAMS:
        if name not in samples:
            cells.append("")
            continue
        processor = statistics.median(run["processor"] for run in samples[name])
        own = own or processor
        times = f", {processor * (10 if name in SLOW else 1) / own:.1f}x" if name != "fathom" else ""
        cells.append(f"{processor:.2f} s{times}")
    print(f"| {question} | " + " | ".join(cells) + " |", flush=True)


def main(fathom, folder, gigabytes="1", rounds="5", saved=None, *only):
    folder = pathlib.Path(folder)
    make(folder, float(gigabytes))
    found = {}
    print("| | " + " | ".join(PROGRAMS) + " |\n|---" + "|--:" * len(PROGRAMS) + "|")
    for question in QUESTIONS:
        if only and question not in only:
            continue
        agree(question, fathom, folder)
        every = commands(fathom, question, folder)
        samples = {name: [] for name in every}
        for number in range(int(rounds)):
            for name in list(every)[number % len(every) :] + list(every)[: number % len(every)]:
                samples[name].append(timed(every[name]))
        shown(question, samples)
        found[question] = samples
    if saved and saved != "-":
        machine = json.loads(subprocess.check_output([fathom, "machine", "--format", "json"]))
        said = {"machine": machine, "threads": THREADS, "gigabytes": float(gigabytes), "runs": found}
        pathlib.Path(saved).write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "answer":
        _, _, program, question, path = sys.argv
        IN_PROCESS[program](path, *QUESTIONS[question])
    else:
        main(*sys.argv[1:])
