"""The worker of Python functions: one process per contender, by the protocol of docs/protocol.md.

Started as ``python _worker.py FILE``, where FILE has, pickled, where the functions are found, and their
arguments. It imports nothing of the package. Garbage is collected before each sample and not during it; what was there
before the first one is none.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import gc
import hashlib
import importlib
import importlib.util
import io
import json
import numbers
import os
import pickle
import platform
import resource
import sys
import time
import traceback

_MASK = (1 << 64) - 1


def digest(answer) -> str:
    """64-bit FNV-1a of a hash of the answer: equal for equal answers of plain types and arrays of NumPy.

    Numbers that are equal are one answer (1 and 1.0 and True, 0.0 and -0.0), also in arrays; so are a list and a
    tuple. So is what is no number (NaN), which Python calls unequal to itself: a function that answers it as the
    baseline does is right.
    """
    value = 0xCBF29CE484222325
    try:
        whole = _canonical(answer)
    except RecursionError:
        # It holds itself, as pickle can tell it, or is nested deeper than functions call each other.
        try:
            whole = _pickled(answer)
        except RecursionError:
            raise ValueError("the answer is nested too deeply to be compared") from None
    for byte in hashlib.blake2b(whole, digest_size=16).digest():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return f"{value:016x}"


def _canonical(answer) -> bytes:
    """Bytes that are the same for answers that are equal, whatever their order in sets and dicts."""
    if isinstance(answer, str):
        return str.__repr__(answer).encode()
    if answer is None:
        return b"None"
    if isinstance(answer, (bytes, bytearray)):
        return repr(bytes(answer)).encode()
    kind = getattr(getattr(answer, "dtype", None), "kind", None)
    if kind in ("m", "M") and answer.shape == ():
        # A time or a span, which as an object of Python's would be a number without a unit, or none at all.
        return b"one" + _array(answer.reshape(1))
    if isinstance(answer, numbers.Number):
        return _number(answer)
    if isinstance(answer, (list, tuple)):
        return b"[" + b",".join(map(_canonical, answer)) + b"]"
    if isinstance(answer, (set, frozenset)):
        return b"<" + b",".join(sorted(map(_canonical, answer))) + b">"
    if isinstance(answer, dict):
        pairs = sorted((_canonical(key), _canonical(value)) for key, value in answer.items())
        return b"{" + b",".join(key + b":" + value for key, value in pairs) + b"}"
    if hasattr(answer, "tobytes") and hasattr(answer, "dtype"):
        if kind == "V" and not answer.shape and answer.dtype.names:
            return _canonical([answer[name] for name in answer.dtype.names])
        if not answer.shape or (answer.dtype.hasobject and kind != "T") or "numpy" not in sys.modules:
            # One value, of which numpy's truths are no numbers; or addresses of objects.
            return _canonical(answer.tolist())
        return _array(answer)
    if isinstance(answer, (array.array, collections.deque, range)):
        return type(answer).__name__.encode() + _canonical(list(answer))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        fields = [getattr(answer, field.name) for field in dataclasses.fields(answer) if field.compare]
        return pickle.dumps(type(answer)) + _canonical(fields)
    return _pickled(answer)


def _array(answer) -> bytes:
    """An array of NumPy by its shape and what its elements are worth, whatever their type."""
    numpy = sys.modules["numpy"]
    if isinstance(answer, numpy.ma.MaskedArray):
        # What stands behind a mask is nobody's answer.
        mask, seen = numpy.ma.getmaskarray(answer), answer.filled(answer.dtype.type())
        return b"masked" + _array(mask) + _array(seen)
    answer = numpy.asarray(answer)
    kind, shape = answer.dtype.kind, f"{answer.shape}".encode()
    if answer.dtype.names:
        return b"{" + b",".join(repr(name).encode() + b":" + _array(answer[name]) for name in answer.dtype.names) + b"}"
    if kind in "biuf":
        return shape + _numbers(answer)
    if kind == "c":
        return _array(answer.real) + (b"+" + _array(answer.imag) + b"i" if answer.imag.any() else b"")
    if kind in "mM":
        return shape + _times(answer)
    if kind in "SUT":
        return shape + _canonical(answer.tolist())
    return shape + f"{answer.dtype}".encode() + answer.tobytes()


def _numbers(answer) -> bytes:
    """Real numbers: integers of 64 bits if all are, otherwise doubles if all are, otherwise one by one."""
    numpy = sys.modules["numpy"]
    if answer.dtype.kind != "f" or (numpy.isfinite(answer) & (numpy.trunc(answer) == answer)).all():
        if not answer.size or -(1 << 63) <= int(answer.min()) <= int(answer.max()) < 1 << 63:
            return b"i" + answer.astype("<i8").tobytes()
    else:
        doubles, is_none = answer.astype("<f8"), numpy.isnan(answer)
        if ((doubles == answer) | is_none).all():
            # All that are no numbers alike, and one zero.
            doubles[is_none] = numpy.nan
            return b"f" + (doubles + 0.0).tobytes()
    return b",".join(map(_number, answer.ravel()))


def _times(answer) -> bytes:
    """Times and spans in the finest unit that has room for all of them."""
    kind = answer.dtype.kind
    for unit in ("as", "fs", "ps", "ns", "us", "ms", "s", "m", "h", "D", "M", "Y"):
        try:
            told = answer.astype(f"<{kind}8[{unit}]")
            again = told.astype(answer.dtype)
        except (OverflowError, TypeError):
            continue
        if again.tobytes() == answer.tobytes():
            return f"{kind}{unit}".encode() + told.tobytes()
    return f"{answer.dtype}".encode() + answer.tobytes()


def _number(answer) -> bytes:
    """A number by what it is worth, whatever its type."""
    if isinstance(answer, numbers.Complex) and answer.imag:
        return b"(" + _number(answer.real) + b"+" + _number(answer.imag) + b"i)"
    real = answer.real
    if isinstance(real, numbers.Integral):
        return b"%x" % int(real)
    try:
        over, under = real.as_integer_ratio()
    except (OverflowError, ValueError):
        # Infinite, or no number; of a signalling one, no double is made.
        is_none = getattr(real, "is_nan", None)
        return b"nan" if is_none and is_none() else str(float(real)).encode()
    except AttributeError:
        return _pickled(answer)
    return b"%x" % over if under == 1 else b"%x/%x" % (over, under)


def _pickled(answer) -> bytes:
    """Without notes of which of its parts are one object, and not only equal, unless it holds itself."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.fast = True
    try:
        pickler.dump(answer)
    except (RecursionError, ValueError):
        return pickle.dumps(answer)
    return file.getvalue()


#: What a script is called here, so that what it does as a script is not done again.
SCRIPT = "__fathom_main__"


def find(place):
    """The function at (module or path, qualified name); a decorated one is the function inside."""
    module, path, name = place
    found = importlib.import_module(module) if path is None else _loaded(path)
    for part in name.split("."):
        found = getattr(found, part)
    return inside(found)


def _loaded(path):
    """The script at a path as a module."""
    spec = importlib.util.spec_from_file_location(SCRIPT, path)
    sys.modules[SCRIPT] = loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class _Arguments(pickle.Unpickler):
    """Arguments, also of classes of the script, which is another module here."""

    def __init__(self, arguments: bytes, script):
        super().__init__(io.BytesIO(arguments))
        self.script = script

    def find_class(self, module, name):
        if module == "__main__" and self.script is not None:
            module = SCRIPT
            if module not in sys.modules:
                _loaded(self.script)
        return super().find_class(module, name)


def inside(function):
    """The function that `fathom.compare` decorated; what wraps that one copies its attributes, and is itself."""
    own = getattr(function, "__fathom_function__", None)
    return function if own is None or getattr(function, "__wrapped__", None) is not own else own


#: What the empty contender calls: the cheapest call there is, so that its time is what no function can do without.
_NOTHING = gc.isenabled


class _Serving:
    def __init__(self, file: str):
        with open(file, "rb") as opened:
            job = pickle.load(opened)
        sys.path[:] = job["path"]
        self.places, self.arguments, self.script = job["contenders"], job["arguments"], job["script"]

    def hello(self, _request):
        offered = [
            {"family": "functions", "name": name, "version": platform.python_version(), "summary": summary}
            for name, (_, summary) in self.places.items()
        ]
        program = f"{platform.python_implementation()} {platform.python_version()}"
        return dict(answer="hello", protocol=1, program=program, contenders=offered)

    def open(self, request):
        name = request["contender"]
        self.function, self.args, self.keywords = _NOTHING, (), {}
        if name is not None:
            self.function = find(self.places[name][0])
            # Unpickled here: no two processes, and no two contenders, share what they may change.
            self.args, self.keywords = _Arguments(self.arguments, self.script).load()
        # What the first call imports, makes or waits for may be there in the second one.
        leaves = name is not None and self._leaves_the_thread() and self._leaves_the_thread()
        # Modules and arguments: to look through all of them before each sample takes longer than most functions do.
        gc.collect()
        gc.freeze()
        return dict(answer="opened", work={"bytes": 0, "items": 0}, leaves_the_thread=leaves)

    def _leaves_the_thread(self) -> bool:
        """Whether a call waits, or lets other threads or processes work: then its thread's own time says too little."""
        before = _beside()
        self.function(*self.args, **self.keywords)
        elsewhere, waits = (now - then for now, then in zip(_beside(), before))
        return waits > 0 or elsewhere > 100_000

    def sample(self, request):
        function, args, keywords = self.function, self.args, self.keywords
        for _ in range(request["warm"]):
            function(*args, **keywords)
        rounds = range(max(request["iterations"], 1))
        answer = None
        gc.collect()
        gc.disable()
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        for _ in rounds:
            answer = function(*args, **keywords)
        cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        gc.enable()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return dict(
            answer="sample", wall_ns=wall, cpu_ns=cpu, check=digest(answer), peak_bytes=peak
        )

    def metrics(self, _request):
        return dict(answer="metrics", metrics=[])

    def close(self, _request):
        return dict(answer="closed")


def _beside() -> tuple[int, int]:
    """Processor time that other threads and ended child processes took, in nanoseconds, and how often this one waited."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    elsewhere = time.process_time_ns() - time.thread_time_ns()
    elsewhere += int((children.ru_utime + children.ru_stime) * 1e9)
    return elsewhere, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _pipes():
    """The conductor's, moved to where no function finds them, nor what it starts: that reads nothing and prints to stderr."""
    requests, replies = open(os.dup(0), encoding="utf-8"), open(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # In the order of what is said there.
    sys.stdout = sys.stderr
    return requests, replies


def main() -> None:
    requests, replies = _pipes()
    serving = _Serving(sys.argv[1])
    for line in requests:
        request = json.loads(line)
        reply = getattr(serving, request["ask"], None)
        if reply is None or request["ask"].startswith("_"):
            reply = lambda request: dict(answer="error", message=f"unknown: {request['ask']!r}")
        try:
            said = reply(request)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # Last what is quoted, and nothing behind it.
            traceback.print_exc()
            print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
            os._exit(1)
        print(json.dumps(said), file=replies, flush=True)


if __name__ == "__main__":
    main()
