"""Expressions that are compiled when they are first used."""

import re

import pytest

from contracts.expressions import expression


def test_it_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_now(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    number = expression(r"(?P<number>\d+) SHARES", re.IGNORECASE)
    assert (number.pattern, compiled) == (r"(?P<number>\d+) SHARES", [])
    match = number.search("buy 5 shares")
    assert match is not None
    assert match["number"] == "5"
    assert number.sub("some", "buy 5 shares") == "buy some"
    assert compiled == [number.pattern]


def test_a_wrong_pattern_is_an_error_when_it_is_used() -> None:
    wrong = expression("(")
    with pytest.raises(re.error):
        wrong.match("")
