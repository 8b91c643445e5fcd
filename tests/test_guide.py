"""What the guides name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`((?:services|libs|cli|deploy|benchmarks|tests|docs|examples)/[\w./-]+)`")
LINKED = re.compile(r"\]\((?!https?:)([\w./-]+\.(?:md|json|py))(?:#[\w-]+)?\)")


@pytest.mark.parametrize("page", ["docs/architecture/README.md", "docs/glossary.md"])
def test_every_file_that_a_guide_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text()
    assert [name for name in NAMED.findall(text) if not (ROOT / name).exists()] == []
    assert [name for name in LINKED.findall(text) if not ((ROOT / page).parent / name).exists()] == []
