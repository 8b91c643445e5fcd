"""What `nexus replay` shows: two sides in figures, and a page that nothing written by others can break out of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from nexus_cli.replay.made_cases import write_cases
from nexus_cli.replay.page import page
from nexus_cli.replay.summary import money, summary, verdict
from nexus_cli.replay.table import closing, table


def turn(question: str = "How much?", **changes: Any) -> dict[str, Any]:
    """A compared turn, as the agent prints it."""
    use = {"tool": "get_price", "arguments": {"symbol": "AAPL"}, "success": True, "inRecord": True, "error": None}
    side = {
        "text": "It is 10 dollars.",
        "model": "m1",
        "provider": "groq",
        "promptTokens": 100,
        "completionTokens": 10,
        "cost": 0.00012,
        "latencyMs": 400.0,
        "tools": [use],
    }
    return {
        "at": "2026-11-20T10:00:00+00:00",
        "question": question,
        "recorded": side,
        "replayed": {**side, "error": None},
        "sameText": True,
        "sameTools": True,
        "identical": True,
        "notInRecord": [],
        "notes": [],
        **changes,
    }


def other(text: str, **side: Any) -> dict[str, Any]:
    base = turn()
    replayed = {**base["replayed"], "text": text, "model": "m2", "cost": None, **side}
    return turn(replayed=replayed, sameText=False, identical=False)


def test_both_sides_are_summed_and_a_missing_price_is_not_taken_for_nothing() -> None:
    found = summary([turn(), other("It is 12.", promptTokens=50)])
    assert (found["turns"], found["sameText"], found["identical"]) == (2, 1, 1)
    assert (found["recorded"]["promptTokens"], found["replayed"]["promptTokens"]) == (200, 150)
    assert (found["recorded"]["cost"], found["replayed"]["cost"]) == (0.00024, None)
    assert [money(cost) for cost in (None, 0.0, 0.00012, 1.5)] == ["no price", "$0", "$0.00012", "$1.5"]


def test_a_turn_is_called_what_it_is() -> None:
    turns = [turn(), turn(identical=False), other("12"), other("", error="no answer: no provider answers")]
    assert [verdict(turn) for turn in turns] == ["identical", "same answer", "other answer", "no answer"]


def test_the_page_escapes_what_people_and_models_wrote_and_loads_nothing() -> None:
    evil = '<script>alert(1)</script> & "quotes"'
    call = {"tool": evil, "arguments": {"x": evil}, "success": False, "inRecord": False, "error": evil}
    shown = page(evil, [turn(question=evil), other(evil, tools=[call], model=evil)], datetime(2026, 11, 20, tzinfo=UTC))
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") >= 6
    assert re.findall(r"""(?:src|href)=|url\(|@import""", shown) == []
    assert "prefers-color-scheme: dark" in shown


def test_the_page_marks_the_words_that_differ() -> None:
    shown = page("t", [other("It is 12 dollars.")])
    assert "It is <del>10</del> dollars." in shown
    assert "It is <ins>12</ins> dollars." in shown


def test_a_case_of_one_turn_is_made_alone_and_never_over_another(tmp_path: Path) -> None:
    cases = [{"turnId": name, "name": f"c-{name}", "toml": 'say = ["hi"]\n'} for name in ("t1", "t2")]
    (made,) = write_cases(tmp_path, cases, "t2")
    made.write_text(made.read_text("utf-8") + "# mine\n", "utf-8")
    assert [file.name for file in write_cases(tmp_path, cases)] == ["c-t1.toml"]
    assert made.read_text("utf-8").endswith("# mine\n")


def test_the_table_shows_both_answers_and_what_was_not_in_the_record() -> None:
    call = {"tool": "buy", "arguments": {"n": 1}, "success": False, "inRecord": False, "error": "NOT_IN_RECORD"}
    turns = [other("It is 12 [dollars].", tools=[call])]
    console = Console(width=140, record=True)
    console.print(table(turns))
    shown = console.export_text()
    assert "It is 10 dollars." in shown
    assert "It is 12 [dollars]." in shown
    assert "buy(n=1) (not in the record)" in shown
    assert closing([turn(), turn(notInRecord=["c1"])]).endswith("1 tool calls not in the record")
