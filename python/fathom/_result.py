"""Saved runs as values: what was measured, and what follows from it."""

from __future__ import annotations

import collections
import json
import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Verdict:
    """One contender against the baseline of its case."""

    contender: str
    baseline: str
    word: str
    """faster, slower, not_resolved or withheld: the last two say nothing about who is faster."""
    ratio: float | None
    """Its time in times of the baseline's."""
    interval: tuple[float, float] | None
    """Within which the ratio lies, at the level of the case."""
    sentence: str
    """The same in words, with all that limits it."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Contender:
    """A contender of a case; times are nanoseconds per iteration, None if it failed."""

    name: str
    ns_median: float | None
    ns_min: float | None
    ns_p95: float | None
    samples: int
    peak_bytes: int
    failure: str | None


@dataclass(frozen=True)
class Case:
    """One measurement: contenders on one workload."""

    title: str
    clock: str
    """The clock of the times: wall or cpu."""
    contenders: list[Contender]
    verdicts: list[Verdict]
    notes: list[str] = field(default_factory=list)


class Run:
    """A saved run, as ``fathom report`` reads it: `json` has all of it, every sample included."""

    def __init__(self, saved: dict):
        self.json = saved

    @property
    def cases(self) -> list[Case]:
        """What was measured, in order."""
        return [_case(*both) for both in zip(self.json["cases"], _sentences(self.report("markdown")))]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of all cases."""
        return [verdict for case in self.cases for verdict in case.verdicts]

    @property
    def notes(self) -> list[str]:
        """What should be known about the run as a whole."""
        return self.json.get("notes", [])

    def save(self, path) -> None:
        """Writes it where ``fathom report``, ``diff`` and ``history`` can read it."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.json, file)
            file.write("\n")

    @classmethod
    def load(cls, path) -> Run:
        """Reads a saved run."""
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    def report(self, format: str = "text", baseline: str | None = None) -> str:
        """It in a format of ``fathom report``: text, markdown, csv, json, html or svg."""
        from fathom._command import call, in_memory

        with in_memory(json.dumps(self.json).encode()) as path:
            other = [] if baseline is None else ["--baseline", baseline]
            return call(["report", path, "--format", format, *other]).decode()

    def __repr__(self) -> str:
        return self.report("text").rstrip("\n")

    def _repr_html_(self) -> str:
        """The page with plots, in a frame of its own so that its styles stay there."""
        from html import escape

        height = 200 + 420 * len(self.json["cases"])
        page = escape(self.report("html"), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox style="width:100%;height:{min(height, 1200)}px;'
            'border:0"></iframe>'
        )


class Keys:
    """What ``fathom kv`` found out: `json` has all of it."""

    def __init__(self, found: dict):
        self.json = found

    @property
    def advice(self) -> list[str]:
        """What to use, in sentences."""
        return self.json["advice"]

    @property
    def rows(self) -> list[dict]:
        """A candidate each, the best first: structure, hash, allocator, cost_ns and more. Those that failed are the
        last, with a cost_ns of None, and failure says why."""
        return sorted(self.json["rows"], key=lambda row: (row["cost_ns"] is None, row["cost_ns"] or 0.0))

    @property
    def run(self) -> Run:
        """The last measurement, with every sample and its verdicts."""
        return Run(self.json["run"])

    @property
    def verdicts(self) -> list[Verdict]:
        """Every candidate against the baseline, by operation."""
        return self.run.verdicts

    def __repr__(self) -> str:
        width = max((len(row["id"]) for row in self.rows), default=0)
        rows = [f"{row['id']:{width}}  {_cost(row):>11}" for row in self.rows]
        return "\n".join([*rows, "", *self.advice])

    def _repr_html_(self) -> str:
        from html import escape

        def row(cells):
            return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"

        rows = [row((one["id"], _cost(one))) for one in self.rows]
        advice = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.advice)
        return f"{advice}<table>{''.join(rows)}</table>{self.run._repr_html_()}"


def _cost(row: dict) -> str:
    """What an operation takes, or why nobody knows."""
    return row.get("failure") or "-" if row["cost_ns"] is None else f"{row['cost_ns']:.1f} ns"


def _sentences(page: str) -> list[list[str]]:
    """Those of each case in Markdown, where names are whole: of its comparisons in order, then of failures."""
    from html import unescape

    cases: list[list[str]] = []
    for line in page.splitlines():
        if line.startswith("### "):
            cases.append([])
        elif line.startswith("- "):
            cases[-1].append(unescape(re.sub(r"\\(.)", r"\1", line[2:])))
    return cases


def _case(case: dict, sentences: list[str]) -> Case:
    judged, roles = case["judged"], case["roles"]
    hidden = {roles.get("twin"), roles.get("empty")}
    names, seen = [], collections.Counter()
    for number, row in enumerate(case["contenders"]):
        # As the report tells them apart.
        seen[row["id"]] += number not in hidden
        nth = seen[row["id"]]
        names.append(row["id"] if number in hidden or nth == 1 else f"{row['id']} ({nth})")
    failures = case["measured"]["failures"]
    baseline = names[roles["baseline"]]
    contenders = []
    for number, row in enumerate(case["contenders"]):
        if number not in hidden:
            summary = judged["summaries"][number] or {}
            times = (summary.get(f"ns_{name}") for name in ("median", "min", "p95"))
            samples, failure = summary.get("samples", 0), failures[number]
            failure = None if failure is None else _failure(failure)
            contender = Contender(names[number], *times, samples, row.get("peak_bytes", 0), failure)
            contenders.append(contender)
    workload = case["workload"]
    parameters = [f"{name}={value}" for name, value in workload.get("parameters", {}).items()]
    title = " ".join(word for word in (case["family"], workload["operation"], *parameters) if word)
    verdicts = []
    for comparison, sentence in zip(judged["comparisons"], sentences):
        name = names[comparison["contender"]]
        if comparison["contender"] in hidden:
            continue
        interval = comparison["interval"]
        verdicts.append(
            Verdict(
                contender=name,
                baseline=baseline,
                word=comparison["verdict"]["word"],
                ratio=comparison["ratio"],
                interval=None if interval is None else (interval[0], interval[1]),
                sentence=sentence,
            )
        )
    return Case(title, judged["clock"], contenders, verdicts, case.get("notes", []))


def _failure(failure) -> str:
    if isinstance(failure, str):
        return failure
    return ": ".join(str(part) for part in failure.values() if part)
