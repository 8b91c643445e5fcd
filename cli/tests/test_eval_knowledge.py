"""`nexus eval knowledge`: what datasets it reads, what it prints, and how it ends when it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from nexus_cli.main import app

PAGES = {
    "refunds.html": "<html lang=en><title>Refunds</title><h1>Refunds</h1><p>We refund every order within 30 days.</p>",
    "hours.md": "# Opening hours\n\nThe shop opens on weekdays from 9 to 18.\n",
    "horario.html": "<html lang=es><title>Horario</title><h1>Horario</h1><p>La tienda abre de lunes a viernes.</p>",
}
CASES: list[dict[str, Any]] = [
    {"question": "Do you refund orders?", "language": "en", "pages": ["refunds.html"]},
    {"question": "When does the shop open on weekdays?", "language": "en", "pages": ["hours.md"]},
    {"question": "¿Cuándo abren la tienda?", "language": "es", "pages": ["horario.html"]},
    {"question": "Do you sell submarines?", "language": "en"},
]


def evaluate(*arguments: str, command: tuple[str, ...] = ("eval", "knowledge")) -> Result:
    return CliRunner().invoke(app, [*command, *arguments], env={"NO_COLOR": "1"})


def written(folder: Path, site: str = "pages", cases: object = CASES) -> str:
    (folder / "pages").mkdir()
    for name, text in PAGES.items():
        (folder / "pages" / name).write_text(text)
    file = folder / "data.json"
    file.write_text(json.dumps({"site": site, "cases": cases}))
    return str(file)


def test_the_right_pages_and_the_traps_are_counted_beside_plain_rankings(tmp_path: Path) -> None:
    data = written(tmp_path)
    told = json.loads(evaluate("--data", data, "--json").stdout)
    assert (told["pages"], told["questions"], told["traps"]) == (3, 3, 1)
    assert told["rankings"]["knowledge"] == {"first": 1.0, "inFirstThree": 1.0, "trapsRefused": 1.0}
    assert set(told["rankings"]) == {"overlap", "plain BM25", "knowledge"}
    table = evaluate("--data", data, command=("knowledge", "eval"))
    assert table.exit_code == 0
    assert "3 pages, 3 questions, 1 traps" in table.stdout


@pytest.mark.parametrize(
    ("site", "cases", "why"),
    [
        ("nowhere", CASES, "not a folder"),
        ("pages", [], "list of cases"),
        ("pages", [{"question": " "}], "no question"),
        ("pages", [{"question": "q", "pages": ["other.html"]}], "does not have: other.html"),
    ],
)
def test_a_file_that_is_no_dataset_is_told_so(tmp_path: Path, site: str, cases: object, why: str) -> None:
    told = evaluate("--data", written(tmp_path, site, cases))
    assert told.exit_code != 0
    assert why in told.output
