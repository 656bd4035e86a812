"""Objects of a store by the drivers' plans: the bytes of the command. `cargo xtask remote` runs it, with a program that
can (FATHOM_PROGRAM) and a store (FATHOM_MOTO)."""

import contextlib
import os
import socket
import subprocess
import time
import urllib.request

import pytest
from test_scale import Here, run

import fathom
from fathom import _command, _scale

moto = os.environ.get("FATHOM_MOTO")
needs_store = pytest.mark.skipif(moto is None, reason="FATHOM_MOTO names no server: cargo xtask remote")


@pytest.fixture
def store(monkeypatch, tmp_path):
    """Puts an object, and says its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    settings = {"ENDPOINT": endpoint, "ALLOW_HTTP": "true", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}
    for name, value in {**settings, "REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)

    def put(path, data=b""):
        # Who says who they are may write again, moto asks for no more; a form would be taken for fields.
        credential = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
        headers = {"Authorization": credential, "Content-Type": "text/csv"}
        request = urllib.request.Request(f"{endpoint}/{path}", data, headers, method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        return f"s3://{path}"

    log = open(tmp_path / "moto.log", "wb")
    server = subprocess.Popen([moto, "-p", str(port)], stdout=log, stderr=log)
    try:
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                put("bucket")
                break
            assert time.monotonic() < end, "no store"
            time.sleep(0.1)
        yield put
    finally:
        server.kill()
        server.wait()


TEXT = b"host,ms,code\n" + b"".join(b"h%d,%d.5,%d\n" % (i % 40, i, 200 + i % 3) for i in range(2000))
SHORT = TEXT[: TEXT.index(b"h9,")]
OPTIONS = {"by": "host", "values": ["ms"], "where": "code > 200", "stats": ["count", "mean", "p99", "last"]}


@needs_store
def test_objects_give_the_bytes_of_files(store, tmp_path, monkeypatch):
    monkeypatch.setattr(_scale, "MANY_KEYS", 30)
    urls = [store("bucket/a.csv", TEXT), store("bucket/b.csv", SHORT)]
    for name, data in (("a.csv", TEXT), ("b.csv", SHORT)):
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for options in (OPTIONS, {"by": ["code", 1], "values": [], "null_values": ["NA"]}):
        expected = fathom.aggregate(files, **options).format("csv")
        assert run(urls, Here(1), task_bytes=7000, **options).format("csv") == expected
        assert run([urls[0], files[1]], Here(2), task_bytes=10**6, **options).format("csv") == expected


@needs_store
def test_what_is_wrong_with_objects_is_said(store):
    url = store("bucket/a.csv", TEXT)
    [tasks], query = _scale.plan(url, 7000, False, dict(OPTIONS))
    states = [_scale.partial(task, query) for task in tasks[:2]]
    store("bucket/a.csv", TEXT + b"h1,1,201\n")
    with pytest.raises(fathom.DataError, match="changed between two states"):
        _scale.merge(*states, _scale.partial(tasks[2], query))
    with pytest.raises(_command.CommandFailed, match="NoSuchKey|404"):
        _scale.plan("s3://bucket/none.csv", 7000, False, dict(OPTIONS))


def test_every_option_has_words_that_the_command_takes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text('k;v;"a ""b"",\\c";7\nx;1,5;1;a\n X;NA;2;b\ny;;3;c\nz;none;3;d\n')
    options = dict(
        by=["k", 1, "v:100"], values=["v", "round(v / 3, 2)", 'a "b",\\c'], texts=["7"], stats=["count", "distinct", "count%"],
        approx=True, format_in="delimited", delimiter=";", trim=True, ignore_case=True, sort="p99", header=True,
        quotes=True, decimal_comma=True, null={"v": "zero", "7": "fail"}, null_values=["NA", "-", "1,5", 'a "b"'], ragged="pad",
        on_error="skip", threads=2, chunk_bytes=1 << 20, memory_limit=1 << 30, where='k != "y"',
    )  # fmt: skip
    _, query = _scale.asked(str(path), **options)
    query.guessed = {}
    state = _scale.partial([*_scale._words(query), str(path)], query)
    found, expected = _scale.finish([[state]], query), fathom.aggregate(path, **options)
    assert found.format("csv") == expected.format("csv") and found.rejected == expected.rejected == 1


def test_tables_that_are_full_are_no_fault_of_the_data(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"key {number};1.0\n" for number in range(10**4)))
    options = dict(memory_limit=1000)
    _, query = _scale.asked(str(path), **options)
    query.guessed = {}
    with pytest.raises(MemoryError, match="the memory limit is reached"):
        fathom.aggregate(path, **options)
    with pytest.raises(MemoryError, match="the memory limit is reached"):
        _scale.partial([*_scale._words(query), str(path)], query)
