"""Write the tables of docs/explanation/statistics.md from results.json and simulations.json.

    python bench/verdict/page.py [--check]

With --check, change nothing and end with 1 if the page is not what the recorded figures give.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "explanation" / "statistics.md"
TARE, ROBUST, DUET = "Tare", "Tare, median", "paired, bootstrap"

Row = Mapping[str, Any]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.995 else f"{100 * share:.0f} %"


def false_alarms(simulations: Row, results: Row) -> str:
    rows: list[Row] = simulations["false_alarms"]
    judges = [name for name in rows[0] if name != "noise"]
    return table(["noise", *judges], [[row["noise"], *[percent(row[name]) for name in judges]] for row in rows])


def power(simulations: Row, results: Row) -> str:
    rows: list[Row] = simulations["power"]
    looks = list(rows[0]["decided"])
    header = [
        "effect / deviation",
        "method",
        *[f"told by {n}" for n in looks],
        "half told by",
        "covered at the verdict",
    ]
    return table(
        header,
        [
            [
                f"{row['effect']:g}",
                row["method"],
                *[percent(row["decided"][n]) for n in looks],
                f"{row['median_blocks']:g} blocks" if row["median_blocks"] else "-",
                percent(row["covered_when_stopped"]),
            ]
            for row in rows
        ],
    )


def alarms_by_rule(simulations: Row, results: Row) -> str:
    figures = [row for row in results["figures"] if row["effect"] == 0]
    rules, sources = _names(figures)
    by = {(row["kind"], row["source"], row["rule"]): row["wrong"] for row in figures}
    return table(
        ["source", *rules],
        [[_label(kind, name), *[percent(by[kind, name, rule]) for rule in rules]] for kind, name in sources],
    )


def effects_by_rule(simulations: Row, results: Row) -> str:
    figures = [row for row in results["figures"] if row["effect"] > 0]
    rules, _ = _names(figures)
    lines = []
    for kind in ("simulated", "recorded"):
        for rule in rules:
            cells = []
            for effect in sorted({row["effect"] for row in figures}):
                chosen = [r for r in figures if (r["kind"], r["rule"], r["effect"]) == (kind, rule, effect)]
                right, wrong, trials, seconds = (
                    sum(row[key] for row in chosen) / len(chosen) for key in ("right", "wrong", "trials", "seconds")
                )
                told = f"{100 * right:.0f} % / {100 * wrong:.1f} %" if wrong >= 0.0005 else f"{100 * right:.0f} %"
                cells.append(f"{told}, {trials:.0f} trials, {seconds:.0f} s")
            lines.append([f"{kind}: {rule}", *cells])
    return table(["rule", *[f"{100 * effect:.0f} %" for effect in sorted({row["effect"] for row in figures})]], lines)


def goals(simulations: Row, results: Row) -> str:
    figures: list[Row] = results["figures"]
    alarms = {row["source"]: row["wrong"] for row in figures if row["rule"] == TARE and row["effect"] == 0}
    worst = max(alarms, key=alarms.__getitem__)
    lines = [
        f"- Tare's false alarms are at most {percent(alarms[worst])} ({worst}); the goal of at most 5 % is "
        f"{'met' if alarms[worst] <= 0.05 else 'missed'}.",
    ]
    for rule in (TARE, ROBUST):
        for effect in (0.10, 0.30):
            ratios = {
                row["source"]: row["trials"] / other["trials"]
                for row in figures
                for other in figures
                if (row["rule"], other["rule"]) == (rule, DUET)
                and row["effect"] == other["effect"] == effect
                and row["source"] == other["source"]
            }
            missed = [f"{name} ({100 * ratio:.0f} %)" for name, ratio in ratios.items() if ratio > 0.5]
            lines.append(
                f"- {rule}, effect {100 * effect:.0f} %: at most half the trials of the fixed pairs in "
                f"{len(ratios) - len(missed)} of {len(ratios)} sources"
                + (f"; more in {', '.join(missed)}." if missed else ".")
            )
    return "\n".join(lines)


SECTIONS: Mapping[str, Callable[[Row, Row], str]] = {
    "false alarms": false_alarms,
    "power": power,
    "alarms by rule": alarms_by_rule,
    "effects by rule": effects_by_rule,
    "goals": goals,
}


def filled(page: str, simulations: Row, results: Row) -> str:
    """Return the page with each section between its markers made anew. Raises ValueError if one has no markers."""
    for name, make in SECTIONS.items():
        begin, end = f"<!-- {name}: written by bench/verdict/page.py -->", f"<!-- end of {name} -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{PAGE.name}: expected one {begin} and one {end}")
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}\n{make(simulations, results)}\n{end}{after}"
    return page


def recorded() -> tuple[Row, Row]:
    """Return the figures of simulations.json and of results.json."""
    simulations, results = (json.loads((HERE / name).read_text()) for name in ("simulations.json", "results.json"))
    return simulations, results


def main(arguments: Sequence[str]) -> int:
    page = PAGE.read_text()
    made = filled(page, *recorded())
    if "--check" in arguments:
        return 0 if made == page else 1
    PAGE.write_text(made)
    return 0


def _names(figures: Sequence[Row]) -> tuple[list[str], list[tuple[str, str]]]:
    rules = list(dict.fromkeys(row["rule"] for row in figures))
    return rules, list(dict.fromkeys((row["kind"], row["source"]) for row in figures))


def _label(kind: str, name: str) -> str:
    return f"recorded: {name}" if kind == "recorded" else name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
