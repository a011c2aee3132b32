"""The examples of the tutorial and of the reference run, in the lab of ``synthetic.py``, and print what the pages say.

A ``python`` block that imports from tare is a file of its own; another one goes on with the page's first. A ``text``
block after it that begins with ``$ `` is a command and its output, in doctest's way: ``...`` stands for anything, and
a line may be broken anywhere between words. A block without such output has to pass.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from tare.cli import tare

ROOT = Path(__file__).parents[4]
PAGES = ("docs/tutorial/your-first-experiment.md", "docs/reference/experiments.md")
LABS = Path(__file__).parent.parent / "data" / "labs"

_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = "tests/test_first.py"
# Every order of trials, and so every figure, follows from it and from the noise of synthetic.py.
_SEED = "--tare-seed=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A file of tests, with each command and what it prints; ``name`` is where the block begins."""

    name: str
    code: str
    runs: tuple[tuple[str, str], ...]


def examples(page: str) -> Iterator[Example]:
    text = (ROOT / page).read_text()
    first: str | None = None
    code, runs, name = "", [], ""
    for block in _BLOCK.finditer(text):
        language, content = block.groups()
        if language == "text":
            command, _, printed = content.partition("\n")
            if command.startswith("$ "):
                runs.append((command.removeprefix("$ "), printed))
            continue
        if code:
            yield Example(name=name, code=code, runs=tuple(runs))
        first = first or content
        code = content if "from tare import" in content else f"{first}\n\n{content}"
        runs, name = [], f"{Path(page).stem}:{text.count(chr(10), 0, block.start()) + 1}"
    yield Example(name=name, code=code, runs=tuple(runs))


EXAMPLES = [example for page in PAGES for example in examples(page)]


@pytest.mark.parametrize("example", [pytest.param(example, id=example.name) for example in EXAMPLES])
def test_an_example_runs_and_prints_what_the_page_says(example: Example, lab: pytest.Pytester) -> None:
    lab.path.joinpath("kata-hlf").symlink_to(LABS / "kata-hlf")
    lab.path.joinpath("pytest.ini").write_text((ROOT / "pytest.ini").read_text())
    file = lab.path / _FILE
    file.parent.mkdir()
    file.write_text(example.code)
    if not example.runs:
        assert lab.runpytest_inprocess(_FILE, _SEED).ret == 0
    for command, expected in example.runs:
        printed = run(lab, command)
        # Without the dots, a page would have to show pytest's heading, which names this machine.
        wanted, found = f"...{_without_rules(expected)}...", f"{_without_rules(printed)}\n."
        same = doctest.OutputChecker().check_output(wanted, found, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert same, f"{example.name}: {command}\n{printed}"


def _without_rules(printed: str) -> str:
    """How long they are depends on what stands between."""
    return re.sub(r"={3,}", "===", printed)


def run(lab: pytest.Pytester, command: str) -> str:
    program, *arguments = shlex.split(command)
    if program == "pytest":
        result = lab.runpytest_inprocess(*arguments, _SEED)
        return "\n".join([*result.errlines, *result.outlines])
    assert (program, arguments[0]) == ("tare", "results"), f"no way to run {command!r} here"
    called = CliRunner().invoke(tare, arguments)
    return called.output


def test_the_pages_have_examples_that_hold_and_others_that_do_not() -> None:
    shown = "".join(printed for example in EXAMPLES for _, printed in example.runs)
    assert len(EXAMPLES) > 10
    assert all(word in shown for word in ("held:", "missed:", "undecided:", "skipped", "UsageError"))
