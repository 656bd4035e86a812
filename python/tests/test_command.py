"""The command in the package, and its answers as values."""

import array
import collections
import dataclasses
import functools
import gc
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction

import pytest

import fathom


def test_the_command_is_there_and_of_this_version(command):
    assert command("--version").decode().split() == ["fathom", fathom.__version__]


def test_commands_are_compared_with_a_verdict():
    run = fathom.run(["sleep 0.001", "sleep 0.05"], names=["short", "long"], rounds=20)
    [case] = run.cases
    [verdict] = run.verdicts
    assert (verdict.contender, verdict.baseline) == ("long", "short") and verdict.ratio > 3
    # Rounds that resemble those before them count less: on a restless machine these may be too few.
    assert verdict.word in ("slower", "not_resolved")
    low, high = verdict.interval or (0, float("inf"))
    assert verdict.word != "slower" or 1 < low <= verdict.ratio <= high
    assert verdict.sentence.startswith("long ")
    assert verdict.word != "slower" or "slower than short" in verdict.sentence
    assert [one.name for one in case.contenders] == ["short", "long"]
    assert case.contenders[1].ns_median > 45e6 and case.contenders[0].failure is None
    assert verdict.sentence in repr(run)
    assert "&lt;svg" in run._repr_html_() and "<iframe" in run._repr_html_()
    assert "| long" in run.report("markdown")


def test_options_with_several_values_are_given_as_the_command_takes_them(tmp_path):
    file = tmp_path / "log"
    each = {name: [f"echo {name} a,{at} >> {file}" for at in "12"] for name in ["setup", "prepare", "conclude", "cleanup"]}
    run = fathom.run(["true", "true"], command_name=["x,y", "z"], output=["null", "pipe"], rounds=6, **each)
    assert [one.name for one in run.cases[0].contenders] == ["x,y", "z"]
    said = set(file.read_text().splitlines())
    assert said == {f"{name} a,{at}" for name in each for at in "12"}
    named = fathom.run("exit {n} # {m}", parameter_list={"n": [0, 3], "m": ["a"]}, ignore_failure=[3], rounds=6)
    assert len(named.cases[0].contenders) == 2
    assert len(fathom.run("true {n}", parameter_scan=("n", 1, 3), rounds=6).cases[0].contenders) == 3
    commas = fathom.run("true '{n}'", parameter_list={"n": ["a,b\\", "c"]}, rounds=6)
    assert [one.name for one in commas.cases[0].contenders] == ["true 'a,b\\'", "true 'c'"]
    assert len(fathom.run("true {n}", parameter=["n", [1, 2]], rounds=6).cases) == 2
    assert len(fathom.bench("checksum", operation="crc32c", set=["size=64", "seed=2"], rounds=6).cases) == 1
    with pytest.raises(fathom.CommandFailed, match="--with|--axis|choice"):
        fathom.bench("checksum", operation="crc32c", axis=["a=1,2", "b=3"], with_=["a=b"], rounds=6)


def test_the_command_knows_whose_end_is_its_own_and_gets_keys_without_a_file(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "[$FATHOM_PARENT, $PPID, \\"$*\\", \\"$(cat | tr -d "\\n")\\"]"\n')
    program.chmod(0o755)
    monkeypatch.setenv("FATHOM_PROGRAM", str(program))
    from fathom import _command

    parent, own, _, _ = _command.found("run", [], [])
    assert parent == own == os.getpid()
    monkeypatch.setattr(_command, "Keys", lambda found: found)
    *_, asked, keys = fathom.kv(["ab", "c"])
    assert (asked.split()[-1], keys) == ("-", "abc")
    with pytest.raises(ValueError, match="there are no commands"):
        fathom.run([])


def words(name, value):
    from fathom._command import options_of

    return options_of("run", {name: value})


def test_values_are_lists_or_whatever_gives_them_one_by_one():
    assert words("prepare", (line for line in ["a", "b"])) == ["--prepare=a", "--prepare=b"]
    assert words("names", (name for name in "ab")) == ["--names=a,b"] == words("names", dict(a=1, b=2).keys())
    assert words("parameter_list", {}) == words("parameter_list", []) == []
    assert words("parameter_list", (pair for pair in [("n", range(2)), ("m", ["a"])])) == (
        ["--parameter-list", "n", "0,1", "--parameter-list", "m", "a"]
    )
    assert words("parameter", {"n": ["a,b", "\\,c"]}) == ["--parameter", "n", "a\\,b,\\\\\\,c"]
    assert words("parameter_list", {"n": "a,b"}) == ["--parameter-list", "n", "a,b"]
    with pytest.raises(ValueError, match="names=: 'x,y' has a comma, .*: command_name= takes it"):
        words("names", ["x,y", "z"])
    assert words("rounds", Decimal(6)) == ["--rounds=6"] and words("names", [1, 2.5]) == ["--names=1,2.5"]
    for wrong in [b"true", object(), {"a": "b"}, [None], [True], [["a"], object()], print]:
        with pytest.raises(TypeError, match="prepare= takes texts and numbers"):
            words("prepare", wrong)
    for wrong in ["n 1,2", 5]:
        with pytest.raises(TypeError, match="parameter_list= takes a list of words or a dict"):
            words("parameter_list", wrong)
    for wrong in [{"a": "true"}, 5, ["true", None], [["ls", "-l"]], b"true"]:
        with pytest.raises(TypeError, match="for the shell"):
            fathom.run(wrong)


@pytest.mark.parametrize("name", "brief columns explain format help open output sort style time_unit wide".split())
def test_options_that_show_otherwise_are_refused_before_anything_is_measured(name, tmp_path):
    value = True if name in ("help", "open") else tmp_path / "k.json"
    calls = [
        lambda **o: fathom.kv("there/is/none.txt", **o),
        lambda **o: fathom.kv(["a"], **o),
        lambda **o: fathom.cpu(**o),
        lambda **o: fathom.bench("checksum", **o),
        lambda **o: fathom.compare([linear, quick], args=[[1]], **o),
        lambda **o: fathom.run("true", **{"report" if name == "output" else name: o[name]}),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"= is of the command alone: .*(\.json|--help)"):
            call(**{name: value})
    assert not any(tmp_path.iterdir())


def test_what_would_be_printed_beside_the_json_is_refused_before_anything_is_measured():
    for name, value in [("save", "-"), ("export_csv", pathlib.Path("-")), ("output", ["null", "inherit"]), ("show_output", True)]:
        with pytest.raises(TypeError, match="is of the command alone: what is returned has .json"):
            words(name, value)
    assert words("save", "a-") == ["--save=a-"] and words("output", "inherited") == ["--output=inherited"]


def test_no_word_is_an_option_and_no_answer_but_json_is_one(monkeypatch, tmp_path):
    for call in [fathom.cpu, fathom.bench]:
        with pytest.raises(fathom.CommandFailed):
            call("--help")
    (tmp_path / "fathom").write_text("#!/bin/sh\nprintf 'hello%0999d\\n' 0\n")
    (tmp_path / "fathom").chmod(0o755)
    monkeypatch.setenv("FATHOM_PROGRAM", str(tmp_path / "fathom"))
    with pytest.raises(ValueError, match="kv: .* no JSON, but 'hello0{75}'$"):
        fathom.kv("a.txt")


def test_sentences_have_whole_names():
    first, second = "true", "true || echo 'a|b' <&0 | cat # " + "[so] \\ & `on` *" * 4
    [verdict] = fathom.run([first, second], rounds=6).verdicts
    assert verdict.sentence.startswith(f"{second} was ") and " than true in " in verdict.sentence
    verdicts = fathom.cpu(only=["crc32c"], size="64K", budget="100ms").verdicts
    assert verdicts and all(verdict.sentence.startswith(f"{verdict.contender} ") for verdict in verdicts)


def test_commands_of_one_text_are_told_apart():
    run = fathom.run(["true", "false", "true"], ignore_failure=[1], rounds=6)
    assert [one.name for one in run.cases[0].contenders] == ["true", "false", "true (2)"]
    for verdict in run.verdicts:
        assert verdict.baseline == "true" and verdict.sentence.startswith(f"{verdict.contender} was ")


def test_runs_are_saved_and_read_again(tmp_path):
    run = fathom.run(["true", "true"], names=["a", "b"], rounds=6)
    run.save(tmp_path / "run.json")
    assert fathom.Run.load(tmp_path / "run.json").verdicts == run.verdicts
    assert pickle.loads(pickle.dumps(run)).json == run.json


def test_what_fails_is_named():
    run = fathom.run(["true", "exit 7"], names=["a", "b"], rounds=6)
    assert run.verdicts == [] and "7" in run.cases[0].contenders[1].failure
    with pytest.raises(fathom.CommandFailed, match="no_such_option|no-such-option") as caught:
        fathom.run(["true"], no_such_option=1)
    assert caught.value.code == 2


def test_primitives_are_measured():
    run = fathom.bench("checksum", operation="crc32c", only=["plain", "crc32c"], rounds=8, processes=1)
    assert all("checksum" in case.title for case in run.cases) and len(run.cases) > 0
    assert {one.name for one in run.cases[0].contenders} >= {"plain", "crc32c"}


def test_keys_are_a_file_a_list_or_a_column(tmp_path):
    keys = [f"key{number}" for number in range(2000)]
    file = tmp_path / "keys.txt"
    file.write_text("".join(key + "\n" for key in keys))
    choice = dict(structure=["std", "hashbrown"], hash=["foldhash"], budget="1s")
    for given in [file, keys, [key.encode() for key in keys]]:
        found = fathom.kv(given, **choice)
        assert found.json["portrait"]["distinct"] == 2000
        assert any("hashbrown" in row["id"] for row in found.rows)
        assert found.advice and found.advice[0] in repr(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(ValueError, match="key 1"):
        fathom.kv(["a", "b\nc"])
    with pytest.raises(FileNotFoundError) as caught:
        fathom.kv(tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")


def test_integers_are_measured_as_integers():
    choice = dict(exactly=["std+foldhash", "hashbrown+foldhash"], budget="1s")
    for given in [range(2000), (str(number) for number in range(2000))]:
        found = fathom.kv(given, **choice)
        is_integer = given == range(2000)
        assert found.json["file"]["format"] == ("integers" if is_integer else "lines")
        assert (found.json["portrait"]["alphabet_name"] == "integers") is is_integer


def key_bytes(keys, format=None):
    from fathom._command import _key_bytes

    return _key_bytes(keys, format)


def test_integers_of_any_library_are_keys_and_of_one_kind():
    assert key_bytes([3, 0, 2**64 - 1]) == (b"3\n0\n%d\n" % (2**64 - 1), "integers")
    assert key_bytes([3, -12, 10**30], "lines") == (b"3\n-12\n%d\n" % 10**30, "lines")
    for library, kind in [("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array"), ("numpy", "array")]:
        module = pytest.importorskip(library)
        assert key_bytes(getattr(module, kind)([3, 70000])) == (b"3\n70000\n", "integers")
        assert key_bytes(getattr(module, kind)(["a", "b"])) == (b"a\nb\n", "lines")
    assert key_bytes(["a", b"b"]) == (b"a\nb\n", "lines")
    for wrong in [1.5, None, True, [1]]:
        with pytest.raises(TypeError, match="key 1: .* is no text, bytes or integer"):
            fathom.kv([1, wrong])
    for wrong in [b"ab", bytearray(b"ab"), 5]:
        with pytest.raises(TypeError, match="keys are a path, or a list or a column"):
            fathom.kv(wrong)
    for mixed, said in [([1, 2, "3"], "key 2 is a text, and key 0 an integer"), ([b"1", 2], "key 1 is an integer")]:
        with pytest.raises(TypeError, match=said):
            fathom.kv(mixed)
    for wrong in [-1, 2**64]:
        with pytest.raises(ValueError, match=f"key 1: {wrong} is no whole number from 0 to 18446744073709551615; from_='lines'"):
            fathom.kv([1, wrong])
    for binary in ["u32", "u64", "bin-text"]:
        with pytest.raises(ValueError, match="from_=.* is how a file is written"):
            fathom.kv([1], from_=binary)
    with pytest.raises(ValueError, match="no keys"):
        fathom.kv([])
    with pytest.raises(ValueError, match="key 0: .* is no Unicode text"):
        fathom.kv(["\udc80"])


def test_keys_that_begin_as_what_is_compressed_are_keys():
    for magic in [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"P*M\x18"]:
        asked = dict(structure="hashbrown", hash="foldhash", allocator="system", budget="50ms")
        assert fathom.kv([magic + b"123", b"abc", b"abd"], **asked).rows


def test_a_first_key_that_begins_with_a_byte_order_mark_has_it():
    for keys in (["\ufeffa", "a"], ["a", "\ufeffa"]):
        assert key_bytes(keys)[0].decode("utf-8-sig" if keys[0] > "a" else "utf-8").split("\n")[:2] == keys
        found = fathom.kv(keys, structure="std", hash="siphash13", budget="5ms").json["portrait"]
        assert (found["distinct"], found["bytes"]) == (2, 5)


def test_keys_are_one_column_and_those_of_a_dict():
    assert key_bytes({"a": 1, "b": 2}) == (b"a\nb\n", "lines") and key_bytes({7}) == (b"7\n", "integers")
    for library, make in [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")]:
        table = getattr(pytest.importorskip(library), make)({"name": ["x", "y"], "b": [1, 2]})
        assert key_bytes(table["name"]) == (b"x\ny\n", "lines")
        with pytest.raises(TypeError, match=r"keys are one column, and \w+ has several: give one"):
            fathom.kv(table)
    with pytest.raises(TypeError, match="one column, and Table"):
        fathom.kv(fathom.aggregate(b"a;1\n"))


def test_keys_that_are_no_file_are_refused_as_everywhere(tmp_path):
    with pytest.raises(IsADirectoryError):
        fathom.kv(tmp_path)
    with pytest.raises(ValueError, match="no standard input"):
        fathom.kv("-")


def test_the_example_of_kv_is_one(tmp_path, monkeypatch):
    [example] = re.findall(r"``kv\((.*)\)``", fathom.kv.__doc__)
    monkeypatch.chdir(tmp_path)
    # The command has read the options when it misses the file.
    with pytest.raises(FileNotFoundError, match="No such file"):
        eval(f"fathom.kv({example})")


def test_the_best_candidate_is_the_first_and_one_that_failed_the_last(monkeypatch):
    rows = [
        {"id": "slow", "cost_ns": 30.25, "failure": None},
        {"id": "broken", "cost_ns": None, "failure": "hung & <gone>"},
        {"id": "quick", "cost_ns": 7.5, "failure": None},
    ]
    found = fathom.Keys({"rows": rows, "advice": ["take quick"], "run": {"cases": []}})
    assert [row["id"] for row in found.rows] == ["quick", "slow", "broken"]
    assert repr(found).splitlines()[:3] == ["quick        7.5 ns", "slow        30.2 ns", "broken  hung & <gone>"]
    monkeypatch.setattr(fathom.Run, "_repr_html_", lambda run: "")
    assert "<td>quick</td><td>7.5 ns</td></tr><tr><td>slow" in found._repr_html_()
    assert "<td>hung &amp; &lt;gone&gt;</td></tr></table>" in found._repr_html_()
    assert repr(fathom.Keys({"rows": [], "advice": ["none"]})) == "\nnone"


def linear(numbers):
    """Adds one by one."""
    total = 0
    for number in numbers:
        total += number
    return total


def quick(numbers):
    """Adds at once."""
    return sum(numbers)


def wrong(numbers):
    """Forgets one."""
    return sum(numbers) - 1


def failing(numbers):
    """Raises."""
    raise RuntimeError("not today")


def test_functions_are_compared_in_processes_of_their_own():
    run = fathom.compare(
        [linear, quick, wrong, failing], args=[list(range(3000))], rounds=20, processes=1
    )
    [verdict] = run.verdicts
    assert (verdict.contender, verdict.baseline) == ("quick", "linear")
    assert verdict.ratio < 0.8 and "quick" in verdict.sentence
    of = {one.name: one.failure for one in run.cases[0].contenders}
    assert of["linear"] is None and "wrong" in of["wrong"] and "not today" in of["failing"]


@fathom.compare(baseline=linear, args=[list(range(3000))], rounds=6)
def decorated(numbers):
    """Adds by halves."""
    half = len(numbers) // 2
    return sum(numbers[:half]) + sum(numbers[half:])


def test_a_decorated_function_stays_one_and_can_be_compared():
    assert decorated([1, 2, 3]) == 6
    run = decorated.comparison(processes=1)
    assert [one.name for one in run.cases[0].contenders] == ["linear", "decorated"]
    assert run.cases[0].contenders[1].failure is None


def test_arguments_that_are_given_once_are_there_for_each_comparison(monkeypatch):
    import pickle

    from fathom import _compare

    given = []
    monkeypatch.setattr(_compare.pickle, "dumps", lambda job, dumps=pickle.dumps: given.append(job) or dumps(job))
    monkeypatch.setattr(_compare, "found", lambda *_: {"cases": []})
    compared = fathom.compare(quick, baseline=linear, args=(numbers for numbers in [[1, 2]]))
    compared.comparison(), compared.comparison()
    assert [job for job in given if isinstance(job, tuple)] == [(([1, 2],), {})] * 2


def test_functions_that_no_process_can_import_are_refused():
    with pytest.raises(ValueError, match="imported"):
        fathom.compare([linear, lambda numbers: 0], args=[[1]])
    with pytest.raises(ValueError, match="two functions"):
        fathom.compare([linear], args=[[1]])
    with pytest.raises(TypeError, match="baseline"):
        fathom.compare(linear)


def slow(number):
    """Takes its time, some hundred times that of those that do nothing: all are called as often as the quickest."""
    sum(range(2_000))
    return number


class Doubling:
    def method(self, number):
        return number

    @classmethod
    def of_class(cls, number):
        return number

    __call__ = method


cached = functools.lru_cache(slow)
part = functools.partial(slow)
doubling = Doubling()
outer = functools.lru_cache(fathom.compare(slow, baseline=slow))


def test_what_is_measured_is_what_was_given():
    given = [slow, cached, part, doubling, Doubling.of_class, outer, abs]
    [case] = fathom.compare(given, args=[5], rounds=6, processes=1).cases
    assert [one.failure for one in case.contenders] == [None] * len(given)
    of = {one.name: one.ns_median for one in case.contenders}
    assert list(of) == ["slow", "cached", "part", "doubling", "Doubling.of_class", "outer", "abs"]
    assert of["part"] > of["slow"] / 10
    for quick in ["cached", "doubling", "Doubling.of_class", "outer", "abs"]:
        assert of[quick] < of["slow"] / 10, quick
    [case] = fathom.compare(cached, baseline=slow, args=[5], rounds=6).comparison(processes=1).cases
    assert [one.name for one in case.contenders] == ["slow", "cached"]
    assert case.contenders[1].ns_median < case.contenders[0].ns_median / 10


def test_what_no_name_leads_to_is_refused_with_what_to_do():
    nameless = [functools.partial(slow), functools.lru_cache(slow), Doubling(), doubling.method, "".upper, lambda n: n]
    for function in nameless:
        with pytest.raises(ValueError, match="cannot be imported: .*def name"):
            fathom.compare([slow, function], args=[5])
        with pytest.raises(ValueError, match="cannot be imported: .*def name"):
            fathom.compare(function, baseline=slow, args=[5]).comparison()
    for none in [None, 5, "slow"]:
        with pytest.raises(TypeError, match=f"functions are compared, and {none!r} is none"):
            fathom.compare([slow, none], args=[5])
        if none is not None:
            with pytest.raises(TypeError, match=f"functions are compared, and {none!r} is none"):
                fathom.compare(slow, baseline=none)


OWN = """
import dataclasses, fathom, other

@dataclasses.dataclass
class Own:
    n: int

def a(own): return Own(own.n + 1)
def b(own): return Own(1 + own.n)

if __name__ == "__main__":
    run = fathom.compare([{}], args=[Own(5)], rounds=6, processes=1)
    print([one.failure for one in run.cases[0].contenders])
"""


def test_scripts_compare_their_own_functions_with_their_own_arguments(tmp_path):
    script = tmp_path / "own.py"
    (tmp_path / "other.py").write_text("def a(own): return own.n\ndef b(own): return +own.n\n")
    for functions in ["a, b", "other.a, other.b"]:
        script.write_text(OWN.format(functions))
        said = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
        assert said.stdout == "[None, None]\n", said.stderr


def test_a_script_that_measures_when_it_is_imported_is_said_to(tmp_path):
    script = tmp_path / "own.py"
    (tmp_path / "other.py").touch()
    script.write_text(OWN.format("a, b").replace('__name__ == "__main__"', "True"))
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert "RuntimeError: this script is imported for the functions it compares" in said.stderr.splitlines()[-1]


def printing(numbers):
    """Prints by all ways there are, and reads what is not there."""
    print("printed")
    os.write(1, b"written\n")
    subprocess.run(["echo", "a child"], check=True)
    assert sys.stdin.read() == "" and os.read(0, 1) == b""
    return sum(numbers)


def test_what_a_function_prints_and_reads_is_not_the_conductors():
    [case] = fathom.compare([linear, printing], args=[[1, 2]], rounds=6, processes=1).cases
    assert [one.failure for one in case.contenders] == [None, None]


def threaded(numbers):
    """Lets another thread add."""
    found = []
    thread = threading.Thread(target=lambda: found.append(linear(numbers)))
    thread.start()
    thread.join()
    return found[0]


def waiting(numbers):
    """Waits before it adds."""
    time.sleep(0.001)
    return linear(numbers)


def child(numbers):
    """Lets a process add."""
    code = f"print(sum({numbers}))"
    return int(subprocess.run([sys.executable, "-Sc", code], capture_output=True, check=True).stdout)


def steady(numbers):
    """Adds after some milliseconds of work: a sample has as many calls of all, and a child takes long."""
    sum(range(100_000))
    return linear(numbers)


@pytest.mark.parametrize("two", [[linear, threaded], [linear, waiting], [steady, child]])
def test_functions_that_work_elsewhere_are_not_judged_by_their_threads_time(two):
    [case] = fathom.compare(two, args=[list(range(9))], rounds=6, processes=1).json["cases"]
    assert case["measured"]["failures"] == [None] * len(case["contenders"])
    assert case["judged"]["clock"] == "wall"


def frozen(_):
    """Whether what was there before is not looked through for garbage."""
    return gc.get_freeze_count() > 1000


def always(_):
    """True."""
    return True


def test_what_was_there_before_is_no_garbage_to_be_looked_for_before_each_sample():
    [case] = fathom.compare([always, frozen], args=[1], rounds=6, processes=1).cases
    assert [one.failure for one in case.contenders] == [None, None]


def two_lines(_):
    """Raises."""
    raise RuntimeError("not\ntoday")


class Unusual(BaseException):
    pass


def unusual(_):
    raise Unusual("today")


async def later(_):
    """Is run by nobody."""


def test_why_a_function_failed_is_told_in_a_line_of_its_own():
    [case] = fathom.compare([always, two_lines], args=[1], rounds=6, processes=1).cases
    assert case.contenders[1].failure.endswith("RuntimeError: not today")
    [case] = fathom.compare([always, unusual], args=[1], rounds=6, processes=1).cases
    assert case.contenders[1].failure.endswith("Unusual: today")
    with pytest.raises(TypeError, match="asyncio.run"):
        fathom.compare([always, later], args=[1])


def test_no_function_is_faster_than_what_a_call_costs():
    [case] = fathom.compare([len, any], args=[[1]], rounds=20, processes=1).json["cases"]
    summaries = case["judged"]["summaries"]
    fastest = min(summary["ns_median"] for summary in summaries[:2])
    # With room for what else runs here; a function of Python's takes twice as long.
    assert case["judged"]["overhead"]["ns_median"] < 1.4 * fastest


def test_who_is_ended_while_functions_are_compared_leaves_nothing(tmp_path):
    script, folder, started = tmp_path / "own.py", tmp_path / "temporary", tmp_path / "started"
    folder.mkdir()
    script.write_text(
        "import fathom, pathlib, time\n"
        "def a(name): pathlib.Path(name).touch(); time.sleep(0.1)\n"
        "def b(name): time.sleep(0.1)\n"
        "if __name__ == '__main__':\n"
        f"    fathom.compare([a, b], args=[{os.fspath(started)!r}])\n"
    )
    process = subprocess.Popen([sys.executable, script], env={**os.environ, "TMPDIR": os.fspath(folder)})
    until = time.monotonic() + 60
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.terminate()
    process.wait(60)
    while os.listdir(folder) and time.monotonic() < until:
        time.sleep(0.02)
    assert started.exists() and os.listdir(folder) == []


def test_answers_that_are_equal_have_one_digest():
    from fathom._worker import digest

    assert digest([1, 2.0, {"b": 1, "a": (2,)}]) == digest((1.0, 2, {"a": [2], "b": True}))
    assert digest({3, 1, 2}) == digest({2, 3, 1})
    different = [None, 0, 1, "1", b"1", [1], [[1]], {1}, {1: 1}, 1.5, -1, [], "", float("nan")]
    assert len({digest(answer) for answer in different}) == len(different)


@dataclasses.dataclass
class Row:
    name: str
    number: float
    noted: int = dataclasses.field(default=0, compare=False)


class Pair:
    def __init__(self, one, other):
        self.pair = (one, other)


def test_equal_numbers_of_any_type_and_equal_objects_have_one_digest():
    from fathom._worker import digest

    np = pytest.importorskip("numpy")
    ones = [1, 1.0, True, Decimal("1.0"), Decimal(1), Fraction(1), 1 + 0j, np.int64(1), np.float64(1), np.float32(1)]
    ones += [np.bool_(True), np.uint8(1), np.array(1.0)]
    assert len({digest({one: [one], "b": {one}}) for one in ones[:-1]}) == 1 == len({digest(one) for one in ones})
    halves = [0.1, np.float64(0.1), Fraction(*(0.1).as_integer_ratio())]
    assert len({digest(half) for half in halves}) == 1 != digest(np.float32(0.1))
    assert digest(10**5000) == digest(10**5000 + 0) != digest(10**5000 + 1)
    assert digest(np.str_("a")) == digest("a") and digest(bytearray()) == digest(b"")
    assert digest(np.array(["ab" * 9, 1], object)) == digest(np.array(["".join(["ab"] * 9), 1.0], object))
    shared, copy = "x" * 50, "".join(["x"] * 50)
    assert shared is not copy
    assert digest(Row(shared, 1, 2)) == digest(Row(copy, 1.0, 3)) != digest(Row(copy, 2))
    assert digest([Row(shared, 1), shared]) == digest([Row(copy, 1), shared])
    assert digest(Pair(shared, shared)) == digest(Pair(shared, copy)) != digest(Pair(shared, ""))
    different = [set(), {}, [], float("inf"), float("-inf"), float("nan"), 1j, -1j, Decimal("0.1"), 0.1, Row("", 1), Pair("", 1)]
    assert len({digest(answer) for answer in different}) == len(different)
    around = Pair(0, [])
    around.pair[1].append(around)
    assert digest(around)
    # The function was said to have crashed.
    assert digest(Decimal("sNaN")) == digest(float("nan"))
    around, deep = [], []
    around.append(around)
    assert digest(around)
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply to be compared"):
        digest(deep)


def test_equal_arrays_have_one_digest():
    from fathom._worker import digest

    np = pytest.importorskip("numpy")
    types = ["i1", "u1", ">i8", "u8", "f2", ">f4", "f8", "longdouble", "c8", "c16"]
    nan, big = float("nan"), 2**63
    other_nan = np.frombuffer(b"\1\0\0\0\0\0\xf8\xff")
    masked = np.ma.masked_array
    for equal in [
        [np.array([0.0, 1.0]), np.array([-0.0, 1.0]), np.array([False, True]), *(np.array([0, 1], kind) for kind in types)],
        [np.array([1.5, -0.0, nan]), np.array([1.5, 0.0, nan], "f4"), np.array([1.5, 0, nan], "longdouble")],
        [np.array([nan]), other_nan, -other_nan, np.array([nan + 0j])],
        [np.array([big, 0], "u8"), np.array([big, 0], "f4"), np.array([big, -0.0], "longdouble")],
        [np.array([1 + 2j, 3]), np.array([1 + 2j, 3], "c8")],
        [np.array(["a", "b"]), np.array(["a", "b"], "U9")],
        [np.array(["2026-01-02", "NaT"], f"M8[{unit}]") for unit in ("D", "h", "s", "ns")],
        [np.array([120, -60], "m8[s]"), np.array([2, -1], "m8[m]")],
        [np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]), np.array([(1, 2)], [("a", "f4"), ("b", "i8")])],
        [masked([1, 2], [0, 1]), masked([1.0, 7.0], [0, 1], fill_value=3)],
        [np.zeros((2, 0)), np.zeros((2, 0), int)],
        [np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(12).reshape(2, 6)[:, ::2] // 2],
        [array.array("b", [0, 1]), array.array("d", [-0.0, 1.0])],
        [collections.deque([1, 2]), collections.deque([1.0, 2], maxlen=2)],
        [range(0), range(1, 1)],
        [np.datetime64("2026-01-02"), np.datetime64("2026-01-02", "ns"), np.array("2026-01-02", "M8[s]")],
        [np.timedelta64(2, "m"), np.timedelta64(120, "s")],
        [np.array(["a", "bb"], kind) for kind in ("U2", getattr(np.dtypes, "StringDType", lambda: "U9")())],
    ]:
        assert len({digest([one]) for one in equal}) == 1, equal
    different = [np.array([0, 1]), np.array([[0, 1]]), np.array([0, 2]), np.array([0, 1.5]), np.array([0, nan]), np.array([0, 1j])]
    different += [np.array([0.1]), np.array([0.1], "f4"), np.array([2**53 + 1]), np.array([2.0**53]), np.array([big + 1], "u8")]
    different += [np.array([float(big)]), np.array([np.inf]), np.array([-np.inf]), np.array(["a"]), np.array([b"a"]), np.array(["b"])]
    different += [np.array([0], "M8[s]"), np.array([0], "m8[s]"), np.array([1], "M8[s]"), masked([1, 2], [0, 1]), masked([1, 2])]
    different += [np.array([(1, 2)], [("a", "i4"), ("b", "i4")]), np.zeros((2, 0)), np.zeros((0, 2)), [0, 1], range(2)]
    moment, span = np.datetime64, np.timedelta64
    different += [moment(5, "ns"), moment(5, "s"), moment("NaT"), span(5, "ns"), span(5, "s"), span("NaT"), None, 5]
    different += [np.array([(5,)], [("a", f"M8[{unit}]")])[0] for unit in ("ns", "s")]
    different += [array.array("b", [0, 1]), collections.deque([0, 1]), np.array([1e-320], "longdouble") / 3, np.array([1e-320]) / 3]
    assert len({digest(answer) for answer in different}) == len(different)


def test_importing_brings_little_of_python():
    """What takes the time of an import is the modules it brings: of Python itself no more than these few."""

    def modules(code):
        code = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
        home = os.path.dirname(os.path.dirname(fathom.__file__))
        # Without `site`, which brings what happens to be installed.
        done = subprocess.run([sys.executable, "-S", "-c", code], env={"PYTHONPATH": home}, stdout=subprocess.PIPE, check=True)
        return set(done.stdout.decode().split())

    few = modules("import __future__, collections.abc, operator, os, stat")
    assert [name for name in modules("import fathom") - few if name.partition(".")[0] != "fathom"] == []


def test_what_is_exported_is_there():
    for name in fathom.__all__:
        assert getattr(fathom, name).__doc__ or name == "__version__"
    with pytest.raises(AttributeError):
        fathom.nothing
