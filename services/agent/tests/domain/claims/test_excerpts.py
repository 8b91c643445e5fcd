"""A sentence of which one clause is not backed keeps the others, as far as they say something alone."""

import pytest

from agent.domain.claims.checked_text import check_text
from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.excerpts import excerpts
from agent.domain.claims.facts import Facts, facts_of_results
from agent.testing.figures import output


def facts() -> Facts:
    return facts_of_results(
        (tool, output(tool, ["IBM", "MSFT"])) for tool in ("market_snapshot", "fundamentals_events")
    )


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("IBM rose 2.7% over the last year, and its CEO resigned.", "IBM rose 2.7% over the last year."),
        ("IBM rose 2.7% over the last year as investors cheered its cloud.", "IBM rose 2.7% over the last year."),
        ("On the bright side, IBM rose 2.7% over the last year.", "IBM rose 2.7% over the last year."),
        ("IBM, which bought SoftLayer, rose 2.7% over the last year.", "IBM rose 2.7% over the last year."),
        ("Although IBM rose 2.7% over the last year, its staff struck.", "IBM rose 2.7% over the last year."),
        ("- **IBM** rose 2.7% over the last year (a stunning rally).", "- **IBM** rose 2.7% over the last year."),
        ("Volatility: IBM 16.5%, MSFT 12.3%.", "Volatility: IBM 16.5%."),
        ("MSFT perdió un 13,4 % en el último año tras la compra de Nokia.", "MSFT perdió un 13,4 % en el último año."),
        ("La volatilidad de IBM es del 16,5 %, la más baja de su historia.", "La volatilidad de IBM es del 16,5 %."),
        # Nothing that could stand alone.
        ("Its CEO resigned, and it rose 2.7% over the last year.", ""),
        ("If investors had sold IBM, they would have lost 2.7%.", ""),
        ("IBM's RSI sits at 38.2, not there yet.", ""),
        ("IBM fell over the last year, whatever others say.", ""),
        ("El PER de IBM (14,1) está por debajo de la media del sector.", ""),
    ],
)
@pytest.mark.parametrize("strict", [True, False], ids=["report", "chat"])
def test_what_is_backed_of_a_sentence_is_kept(written: str, left: str, strict: bool) -> None:
    known = facts()
    if strict or ClaimChecker(known, "1y", strict=False).reasons(written):
        assert ClaimChecker(known, "1y", strict=strict).judge(written)[0] == left


def test_a_shortened_sentence_counts_as_dropped_and_as_kept() -> None:
    said = check_text(
        "IBM rose 2.7% over the last year, and its CEO resigned. MSFT fell. Its CEO resigned.", facts(), "1y"
    )
    assert said.text == "IBM rose 2.7% over the last year. MSFT fell."
    assert (said.kept_count, len(said.dropped), said.is_mostly_dropped) == (2, 2, False)


def test_the_next_sentence_goes_on_from_what_is_left() -> None:
    said = check_text("IBM rose 2.7% over the last year, thanks to its cloud. Its volatility is 16.5%.", facts(), "1y")
    assert said.text == "IBM rose 2.7% over the last year. Its volatility is 16.5%."


@pytest.mark.parametrize(
    ("sentence", "says_nothing"),
    [
        (
            "You said that AAPL, which you bought at 150, is your largest position, and it fell.",
            {"You said that AAPL.", "You said that AAPL, which you bought at 150."},
        ),
        ("AAPL, bought at 150, is up 20%, and you are happy.", {"AAPL.", "AAPL, bought at 150."}),
        (
            "Dijiste que AAPL, que compraste a 150, es tu mayor posición, aunque cayó.",
            {"Dijiste que AAPL.", "Dijiste que AAPL, que compraste a 150."},
        ),
    ],
)
def test_no_excerpt_ends_before_the_verb_of_what_it_is_about(sentence: str, says_nothing: set[str]) -> None:
    found = {text for text, _ in excerpts(sentence)}
    assert found
    assert not found & says_nothing
