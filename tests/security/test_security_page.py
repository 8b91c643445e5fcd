"""The page of promises names tests and targets that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs/architecture/security.md").read_text()
    promises = [line for line in page.partition("## Figures")[0].splitlines() if line.startswith("| a")]
    assert len(promises) > 10
    assert all(re.search(r"`[\w/-]+/test_\w+\.py`", line) for line in promises)
    assert [name for name in re.findall(r"`([\w/-]+\.py)`", page) if not (ROOT / name).is_file()] == []
    targets = re.findall(r"`make ([\w-]+)", page)
    assert [target for target in targets if f"\n{target}: " not in (ROOT / "Makefile").read_text()] == []
