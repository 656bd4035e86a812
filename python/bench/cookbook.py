"""Ten questions of docs/cookbook.md beside Miller, DuckDB and Polars: how long they are to write, and to wait for.

    python cookbook.py FATHOM COOKBOOK FOLDER [MEGABYTES [ROUNDS [SAVED.json]]]

repeats the records of the files in COOKBOOK (testdata/cookbook) in FOLDER until each has MEGABYTES, 64 if nothing is
said; checks that all programs give the same answer; starts each in turn, ROUNDS times (5); and prints a table of
characters and of medians of processor seconds, of the process and its children. A program is as long as what one
types after its name: the options and the names of files of fathom and Miller, the SQL of DuckDB, the expression
of Polars; the folder before a file's name and the format of the answer are not counted.
"""

import csv
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

LOG = "read_csv('access.log', header=false, delim='\x01', quote='', escape='', columns={'line': 'VARCHAR'})"
PL_LOG = "pl.scan_csv('access.log', has_header=False, separator='\\x01', quote_char=None, new_columns=['line'])"

# Each question: by fathom, by Miller, by DuckDB, by Polars; the first columns are the key.
QUESTIONS = {
    "How many requests has each status?": (
        1,
        "--format-in combined --by status --count access.log",
        r"""--inidx --ifs '\x01' put '$status = sub($1, ".*\" ([0-9]{3}) .*", "\1")' then count -g status access.log""",
        rf"""select regexp_extract(line, '" (\d{{3}}) ', 1) as status, count(*) from {LOG} group by all""",
        rf"""{PL_LOG}.group_by(status=pl.col("line").str.extract(r'" (\d{{3}}) ')).len()""",
    ),
    "When did errors start?": (
        1,
        "--format-in combined --by time:1h --count --where 'status >= 500' access.log",
        r"""--inidx --ifs '\x01' filter 'int(sub($1, ".*\" ([0-9]{3}) .*", "\1")) >= 500' then put '$time = sec2gmt(roundm(strptime(sub($1, ".*\[(.*)\].*", "\1"), "%d/%b/%Y:%H:%M:%S %z") - 1800, 3600))' then count -g time access.log""",
        rf"""select strftime(timezone('UTC', time_bucket(interval 1 hour, strptime(regexp_extract(line, '\[(.*?)\]', 1), '%d/%b/%Y:%H:%M:%S %z'))), '%Y-%m-%dT%H:%M:%SZ'), count(*) from {LOG} where regexp_extract(line, '" (\d{{3}}) ', 1)::int >= 500 group by all""",
        rf"""{PL_LOG}.filter(pl.col("line").str.extract(r'" (\d{{3}}) ').cast(int) >= 500).group_by(pl.col("line").str.extract(r'\[(.*?)\]').str.to_datetime("%d/%b/%Y:%H:%M:%S %z").dt.truncate("1h").dt.strftime("%Y-%m-%dT%H:%M:%SZ")).len()""",
    ),
    "What was sold where?": (
        2,
        "--by country,city --trim --value quantity --stats count,sum sales.csv",
        "--icsv put '$country = strip($country); $city = strip($city)' then stats1 -a count,sum -f quantity -g country,city sales.csv",
        "select trim(country), trim(city), count(quantity), sum(quantity) from 'sales.csv' group by all",
        'pl.scan_csv("sales.csv").group_by(pl.col("country", "city").str.strip_chars(" ")).agg(count=pl.col("quantity").count(), sum=pl.col("quantity").sum())',
    ),
    "What is the turnover of each month?": (
        1,
        "--by date:1mo --value price --stats count,sum sales.csv",
        """--icsv filter 'is_not_empty($price)' then put '$date = substr($date, 0, 6)' then stats1 -a count,sum -f price -g date sales.csv""",
        "select strftime(date, '%Y-%m'), count(price), sum(price) from 'sales.csv' group by all",
        'pl.scan_csv("sales.csv").group_by(pl.col("date").str.head(7)).agg(count=pl.col("price").count(), sum=pl.col("price").sum())',
    ),
    "Which product sells best?": (
        1,
        "--by product --ignore-case --value quantity --stats sum --sort sum sales.csv",
        "--icsv put '$product = tolower($product)' then stats1 -a sum -f quantity -g product then sort -nr quantity_sum sales.csv",
        "select lower(product), sum(quantity) as sum from 'sales.csv' group by all order by sum desc",
        'pl.scan_csv("sales.csv").group_by(pl.col("product").str.to_lowercase()).agg(sum=pl.col("quantity").sum()).sort("sum", descending=True)',
    ),
    "How many customers has each country?": (
        1,
        "--by country --text customer --stats distinct sales.csv",
        "--icsv stats1 -a distinct_count -f customer -g country sales.csv",
        "select country, count(distinct customer) from 'sales.csv' group by all",
        'pl.scan_csv("sales.csv").group_by("country").agg(pl.col("customer").n_unique())',
    ),
    "What is the turnover of each country?": (
        1,
        "--by country --value 'price * quantity' --stats sum sales.csv",
        """--icsv filter 'is_not_empty($price)' then put '$turnover = $price * $quantity' then stats1 -a sum -f turnover -g country sales.csv""",
        "select country, sum(price * quantity) from 'sales.csv' group by all",
        'pl.scan_csv("sales.csv").group_by("country").agg(sum=(pl.col("price") * pl.col("quantity")).sum())',
    ),
    "What are the extremes of each day?": (
        2,
        "--by sensor,time:1d --value celsius --null-values NaN --stats min,mean,max sensors.csv",
        """--icsv --ifs ';' filter '$celsius != "NaN"' then put '$time = substr($time, 0, 9)' then stats1 -a min,mean,max -f celsius -g sensor,time sensors.csv""",
        "select sensor, time::date, min(celsius), avg(celsius), max(celsius) from (from 'sensors.csv' where not isnan(celsius)) group by all",
        'pl.scan_csv("sensors.csv", separator=";", null_values="NaN").group_by("sensor", pl.col("time").str.head(10)).agg(min=pl.col("celsius").min(), mean=pl.col("celsius").mean(), max=pl.col("celsius").max())',
    ),
    "How long do jobs take?": (
        2,
        "--format-in ndjson --by job,runner.os --value duration_ms --stats count,median,p90 ci.ndjson",
        "--ijsonl filter 'is_not_null($duration_ms)' then flatten then stats1 -i -a count,p50,p90 -f duration_ms -g job,runner.os ci.ndjson",
        "select job, runner.os, count(duration_ms), median(duration_ms), quantile_cont(duration_ms, 0.9) from read_json('ci.ndjson') group by all",
        'pl.scan_ndjson("ci.ndjson").group_by("job", os=pl.col("runner").struct.field("os")).agg(count=pl.col("duration_ms").count(), median=pl.col("duration_ms").median(), p90=pl.col("duration_ms").quantile(0.9, "linear"))',
    ),
    "What is the time of each case?": (
        2,
        "--by name,size:1 --value ns --stats median,min bench-before.csv",
        "--icsv stats1 -i -a p50,min -f ns -g name,size bench-before.csv",
        "select name, size, median(ns), min(ns) from 'bench-before.csv' group by all",
        'pl.scan_csv("bench-before.csv").group_by("name", "size").agg(median=pl.col("ns").median(), min=pl.col("ns").min())',
    ),
}  # fmt: skip
PROGRAMS = ("fathom", "Miller", "DuckDB", "Polars")
STARTS = {
    "DuckDB": "import duckdb; duckdb.sql({0!r}).write_csv('/dev/stdout', header=False)",
    "Polars": "import sys, polars as pl; (eval({0!r})).collect(engine='streaming').write_csv(sys.stdout, include_header=False)",
}


def command(program: str, text: str, fathom: str) -> list[str]:
    match program:
        case "fathom":
            return [fathom, "aggregate", "--format", "csv", *shlex.split(text)]
        case "Miller":
            return ["mlr", "--ocsv", *shlex.split(text)]
        case _:
            return [sys.executable, "-c", STARTS[program].format(text)]


def make(cookbook: pathlib.Path, folder: pathlib.Path, megabytes: float) -> dict:
    folder.mkdir(parents=True, exist_ok=True)
    records = {}
    for name in ("access.log", "sales.csv", "sensors.csv", "ci.ndjson", "bench-before.csv"):
        text = (cookbook / name).read_bytes()
        head = text.splitlines(keepends=True)[0] if name.endswith(".csv") else b""
        body = text[len(head) :]
        times = max(1, round(megabytes * 1e6 / len(body)))
        (folder / name).write_bytes(head + body * times)
        records[name] = body.count(b"\n") * times
    return records


def answer(text: str, keys: int) -> dict:
    """Numbers by key; a line of heads has none."""
    rows = [row for row in csv.reader(text.splitlines()) if row]
    rows = [row for row in rows if row[-1].replace(".", "").replace("-", "").isdigit()]
    return {tuple(row[:keys]): [float(number) for number in row[keys:]] for row in rows}


def agree(question: str, answers: dict):
    expected = answers["fathom"]
    assert expected, question
    for program, found in answers.items():
        assert found.keys() == expected.keys(), f"{program}: {question}: {found.keys() ^ expected.keys()}"
        for key, numbers in found.items():
            near = zip(numbers, expected[key], strict=True)
            assert all(abs(a - b) <= 1e-9 * max(1, abs(b)) for a, b in near), f"{program}: {question}: {key}"


def timed(start: list[str], folder: pathlib.Path) -> float:
    child = subprocess.Popen(start, stdout=subprocess.DEVNULL, cwd=folder)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, start
    return used.ru_utime + used.ru_stime


def main(fathom, cookbook, folder, megabytes="64", rounds="5", saved=None):
    fathom, folder = str(pathlib.Path(fathom).resolve()), pathlib.Path(folder)
    records = make(pathlib.Path(cookbook), folder, float(megabytes))
    found = {}
    print("| question | " + " | ".join(PROGRAMS) + " |\n|---|" + "--:|" * len(PROGRAMS))
    for question, (keys, *texts) in QUESTIONS.items():
        starts = {p: command(p, text, fathom) for p, text in zip(PROGRAMS, texts, strict=True)}
        said = {
            p: subprocess.run(start, check=True, text=True, cwd=folder, stdout=subprocess.PIPE).stdout
            for p, start in starts.items()
        }
        agree(question, {p: answer(text, keys) for p, text in said.items()})
        samples = {program: [] for program in PROGRAMS}
        for number in range(int(rounds)):
            turn = number % len(PROGRAMS)
            for program in PROGRAMS[turn:] + PROGRAMS[:turn]:
                samples[program].append(timed(starts[program], folder))
        lengths = dict(zip(PROGRAMS, map(len, texts), strict=True))
        found[question] = {p: {"characters": lengths[p], "processor": samples[p]} for p in PROGRAMS}
        cells = [f"{lengths[p]}, {statistics.median(samples[p]):.2f} s" for p in PROGRAMS]
        print(f"| {question} | " + " | ".join(cells) + " |", flush=True)
    if saved:
        machine = json.loads(subprocess.check_output([fathom, "machine", "--format", "json"]))
        of = {"machine": machine, "megabytes": float(megabytes), "records": records, "questions": found}
        pathlib.Path(saved).write_text(json.dumps(of, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
