"""``compare``: Python functions against each other, by the same method as everything else."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import pickle
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from fathom._command import found, in_memory, options_of
from fathom._result import Run
from fathom._worker import SCRIPT, inside

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")


P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Compared(Protocol[P, R]):
    """A function that can be compared with its baseline."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def comparison(self, **options: Any) -> Run: ...


@overload
def compare(
    function: None = None, *, baseline: Callable[..., Any], args: Iterable[Any] = (), kwargs: dict[str, Any] | None = None,
    budget: str | None = None, **options: Any,
) -> Callable[[Callable[P, R]], Compared[P, R]]: ...  # fmt: skip
@overload
def compare(
    function: Callable[P, R], *, baseline: Callable[..., Any], args: Iterable[Any] = (), kwargs: dict[str, Any] | None = None,
    budget: str | None = None, **options: Any,
) -> Compared[P, R]: ...  # fmt: skip
@overload
def compare(
    function: Sequence[Callable[..., Any]], *, args: Iterable[Any] = (), kwargs: dict[str, Any] | None = None,
    budget: str | None = None, **options: Any,
) -> Run: ...  # fmt: skip
def compare(function=None, *, baseline=None, args=(), kwargs=None, budget=None, **options):
    """Compares Python functions: processes of their own, interleaved rounds, checked answers.

        @fathom.compare(baseline=old_sort, args=[numbers])
        def new_sort(numbers): ...

        new_sort.comparison()            # measures; a Run: .verdicts, tables, plots in a notebook

        fathom.compare([old_sort, new_sort], args=[numbers])    # measures at once; the first is the baseline

    Every function runs in a process of its own, which imports it: it must be found by its module and
    name (in a notebook, write it to a file with ``%%writefile``), also what wraps another one
    (``cached = functools.lru_cache(slow)``) and what has no name of its own (``functools.partial``); a script is imported, too,
    and compares under ``if __name__ == "__main__":`` alone. Arguments are pickled once and unpickled in each process.
    Rounds are interleaved in balanced random order by the command ``fathom own``. A function whose answer is not equal to
    the baseline's has no time (NaN counts as equal to NaN, and arrays of NumPy by their elements, those of objects as lists).
    Garbage is collected before each sample and not during it. Where a call waits, or has threads or processes of its own, wall time
    counts; else processor time, if that is the steadier one. Options are those of ``fathom own``: rounds, level, processes, clock and so on.
    """
    args = tuple(args)  # What gives them once would give none to the next comparison.
    if isinstance(function, (list, tuple)):
        if baseline is not None:
            raise TypeError("of a list the first function is the baseline")
        return _measure(list(function), args, kwargs, budget, options)
    if baseline is None:
        raise TypeError("compare needs baseline=, or a list of functions")
    for one in (baseline,) if function is None else (baseline, function):
        _check(one)

    def decorate(function):
        @functools.wraps(function)
        def same(*given, **keywords):
            return function(*given, **keywords)

        def comparison(**more) -> Run:
            asked = {"budget": budget, **options, **more}
            return _measure([baseline, same], args, kwargs, asked.pop("budget"), asked)

        same.__fathom_function__ = function
        same.comparison = comparison
        return same

    return decorate if function is None else decorate(function)


def _check(function) -> None:
    if not callable(function):
        raise TypeError(f"functions are compared, and {function!r} is none")
    if inspect.iscoroutinefunction(inside(function)):
        raise TypeError(f"{function!r} answers what is still to be run: compare def name(…): return asyncio.run(…)")


def _place(function):
    """Where another process finds the function: module, its file if it is a script, qualified name."""
    module, name = _imported(function, inside(function))
    if module != "__main__":
        return module, None, name
    path = _script()
    if path is None:
        raise ValueError(
            f"{name} is defined in a session, where no other process finds it: "
            "write it to a file (in a notebook: %%writefile) and import it"
        )
    return SCRIPT, path, name


def _script() -> str | None:
    """The file of the script that runs, if there is one."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    return os.path.abspath(path) if path is not None and os.path.exists(path) else None


def _imported(given, function) -> tuple[str, str]:
    """Module and name that lead to this very function, or to what was decorated: what wraps another one has often that
    one's name."""
    own, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if isinstance(own, str) and isinstance(name, str):
        try:
            there = operator.attrgetter(name)(sys.modules[own])
        except (AttributeError, KeyError):
            there = None
        # Methods of a class are made anew whenever they are asked for.
        if inside(there) is function or (inspect.ismethod(there) and there == function):
            return own, name
    for module in sorted(list(sys.modules), key=lambda module: (module != own, module != "__main__")):
        for name, there in list(getattr(sys.modules[module], "__dict__", {}).items()):
            if there is function or there is given:
                return module, name
    raise ValueError(
        f"{given!r} cannot be imported: no name in a module leads to it. "
        "Write a function of its own around it (def name(…): return …)"
    )


def _summary(function) -> str:
    text = inspect.getdoc(function) or ""
    return text.splitlines()[0] if text else ""


def _names(places) -> list[str]:
    """Short names where they differ, otherwise with their modules."""
    short = [name for _, _, name in places]
    if len(set(short)) == len(short):
        return short
    return [f"{'__main__' if module == SCRIPT else module}.{name}" for module, _, name in places]


def _measure(functions, args, kwargs, budget, options) -> Run:
    if SCRIPT in sys.modules:
        said = "this script is imported for the functions it compares, and would compare them again: it has to do that under"
        raise RuntimeError(f"{said} if __name__ == '__main__':")
    for function in functions:
        _check(function)
    asked = options_of("own", dict(budget=budget, **options))
    places = [_place(function) for function in functions]
    contenders = {
        name: (place, _summary(function))
        for name, place, function in zip(_names(places), places, functions)
    }
    if len(contenders) < 2 or len(contenders) != len(functions):
        raise ValueError("compare needs at least two functions of different names")
    job = {
        "contenders": contenders,
        "script": _script(),
        "arguments": pickle.dumps((args, dict(kwargs or {}))),
        "path": [os.path.abspath(folder) if folder else os.getcwd() for folder in sys.path],
    }
    with in_memory(pickle.dumps(job)) as path:
        worker = shlex.join([sys.executable, _WORKER, path])
        return Run(found("own", asked, [worker]))
