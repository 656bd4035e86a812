"""The types that the package declares, as mypy reads them."""

import os
import pathlib
import subprocess
import sys

import pytest

import fathom

pytest.importorskip("mypy", reason="needs mypy")

USED = '''
import fathom
import fathom.dask, fathom.ray, fathom.spark

table = fathom.aggregate("a.csv", by=["host", "path"], values="ms", stats=["count"], null={"ms": "zero"})
page: bytes = table.format("csv")
size: int = table.bytes
rows: list[tuple[object, ...]] = list(table)
frames = [table.to_pandas(), table.to_polars(), table.to_arrow(exact=True)]
mean: fathom.Mean = fathom.haversine(b"[]")
both: float = mean.mean + (mean.mean_in_order or 0.0) + mean.pairs + mean.skipped + mean.bytes
run: fathom.Run = fathom.run(["a", "b"], budget="5s", names=["a", "b"])
word: str = run.verdicts[0].word
keys: fathom.Keys = fathom.kv(["a"])
runs: list[fathom.Run] = [fathom.bench("hash", only=["a"]), fathom.cpu(only=["a"])]
classes: list[type] = [fathom.DataError, fathom.CommandFailed, fathom.Case, fathom.Contender, fathom.Verdict]
program: str = fathom.program()


@fathom.compare(baseline=len, args=[[1]])
def count(numbers: list[int]) -> int:
    return sum(1 for _ in numbers)


number: int = count([1])
verdicts: list[fathom.Verdict] = count.comparison(rounds=6).verdicts
verdicts = fathom.compare([len, count], args=[[1]]).verdicts
tables: list[fathom.Table] = [fathom.dask.aggregate("a"), fathom.ray.aggregate("a"), fathom.spark.aggregate("a", None)]
'''


def mypy(*arguments):
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_users_write_has_types(tmp_path):
    (tmp_path / "used.py").write_text(USED)
    mypy("--follow-imports", "silent", tmp_path / "used.py")


@pytest.mark.parametrize("line, said", [
    ("fathom.agregate('a.csv')", 'Module has no attribute "agregate"'),
    ("fathom.dask.aggregate('a.csv', task_byte=1, records='no')", 'Argument "records"'),
])
def test_misspelled_names_and_words_were_any_type(tmp_path, line, said):
    (tmp_path / "used.py").write_text(f"import fathom\n\n{line}\n")
    with pytest.raises(AssertionError) as caught:
        mypy("--follow-imports", "silent", tmp_path / "used.py")
    assert said in str(caught.value), str(caught.value)


def test_the_types_of_the_native_half_are_its_own(tmp_path):
    # That is a list of the same names.
    (tmp_path / "allowed").write_text("fathom._native.__all__\n")
    words = [sys.executable, "-m", "mypy.stubtest", "fathom._native", "--allowlist", tmp_path / "allowed"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_of_the_native_half_are_types(tmp_path):
    # Of what is installed mypy tells no errors.
    declared = pathlib.Path(fathom.__file__).parent / "_native.pyi"
    (tmp_path / "native.pyi").write_text(declared.read_text())
    mypy(tmp_path / "native.pyi")
