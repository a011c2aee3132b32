"""The pages stay true to the tree: links lead somewhere, and the layers are those that are tested."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    return (link for link in _LINK.findall(_FENCED.sub("", page.read_text())) if "://" not in link)


def anchors(page: Path) -> set[str]:
    """Return the names under which a page's headings are linked: small letters, no punctuation, hyphens for spaces."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: {target.name} has no such heading"


def test_every_page_is_linked_from_another() -> None:
    linked = {(page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(page)}
    in_linked_folders = {page for page in PAGES if page.parent in linked}
    assert set(PAGES) <= linked | in_linked_folders


def test_the_page_on_architecture_has_the_layers_that_are_tested() -> None:
    tree = ast.parse((Path(__file__).parent / "test_architecture.py").read_text())
    layers = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS"
    )
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "docs/explanation/architecture.md").read_text(), re.MULTILINE)
    # The last are entries to the program, no part of it.
    assert [tuple(re.findall(r"`(\w+)`", row)) for row in rows] == list(layers)[:-1]


def test_the_readme_shows_what_the_tutorial_runs() -> None:
    blocks = {
        page: re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        for page in ("README.md", "docs/tutorial/your-first-experiment.md")
    }
    first, second, *_ = blocks["docs/tutorial/your-first-experiment.md"]
    assert blocks["README.md"][0] == f"{first}\n\n{second}"
