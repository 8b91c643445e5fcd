"""Symbols: one internal form, whatever the spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.symbols import COINS, QUOTES, InvalidSymbolError, SymbolKind, normalized_symbol, parse_symbol


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("AAPL", "AAPL", SymbolKind.EQUITY),
        (" aapl ", "AAPL", SymbolKind.EQUITY),
        ("$MSFT", "MSFT", SymbolKind.EQUITY),
        ("BRK.B", "BRK.B", SymbolKind.EQUITY),
        ("brk-b", "BRK.B", SymbolKind.EQUITY),
        ("BRK/B", "BRK.B", SymbolKind.EQUITY),
        ("7203.T", "7203.T", SymbolKind.EQUITY),
        ("BTC", "BTC", SymbolKind.EQUITY),
        ("^GSPC", "^GSPC", SymbolKind.INDEX),
        ("^gspc", "^GSPC", SymbolKind.INDEX),
        ("BTC/USD", "BTC/USD", SymbolKind.PAIR),
        ("btc/usd", "BTC/USD", SymbolKind.PAIR),
        ("BTC-USD", "BTC/USD", SymbolKind.PAIR),
        ("BTC_USD", "BTC/USD", SymbolKind.PAIR),
        ("BTCUSD", "BTC/USD", SymbolKind.PAIR),
        ("btcusdt", "BTC/USDT", SymbolKind.PAIR),
        ("ETH-BTC", "ETH/BTC", SymbolKind.PAIR),
        ("BTCBTC", "BTCBTC", SymbolKind.EQUITY),
        ("PEPE/MXN", "PEPE/MXN", SymbolKind.PAIR),
    ],
)
def test_every_spelling_has_one_internal_form(text: str, name: str, kind: SymbolKind) -> None:
    symbol = parse_symbol(text)
    assert (symbol.name, symbol.kind) == (name, kind)


def test_usdt_is_not_usd() -> None:
    assert parse_symbol("BTC-USDT") != parse_symbol("BTC-USD")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "$",
        "^",
        "AAPL MSFT",
        "AAPL,MSFT",
        "../etc",
        "AAPL-XYZ",
        "BTC//USD",
        "USD/USD",
        "a" * 41,
        "ÄPFEL",
        "BRK-À",
        "Б",
        "/",
        "-",
    ],
)
def test_what_is_no_symbol_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidSymbolError, match="write a stock as AAPL"):
        parse_symbol(text)


SPELLED = st.lists(
    st.sampled_from([*QUOTES, *sorted(COINS), "AAPL", "BRK", "B", "^", "$", "/", "-", "_", ":", " ", "."]), max_size=5
)


@given(st.text(max_size=30) | SPELLED.map("".join))
def test_the_internal_form_of_the_internal_form_is_itself(text: str) -> None:
    try:
        symbol = parse_symbol(text)
    except InvalidSymbolError:
        return
    assert parse_symbol(symbol.name) == symbol
    assert parse_symbol(symbol.name.lower()) == symbol


@pytest.mark.parametrize(
    ("text", "name"), [(" btc-usd", "BTC/USD"), ("brk-b", "BRK.B"), ("not a symbol", "NOT A SYMBOL")]
)
def test_the_one_spelling_leaves_what_is_no_symbol_to_be_refused_later(text: str, name: str) -> None:
    assert normalized_symbol(text) == name
