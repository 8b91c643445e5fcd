"""Reads a symbol as somebody wrote it."""

from contracts.symbols import InvalidSymbolError, Symbol, parse_symbol
from market_adapter.errors import BadSymbolError
from market_adapter.texts import TEXTS


def asked_symbol(text: str) -> Symbol:
    """The symbol that was asked for; raises BadSymbolError when it is no spelling of any."""
    try:
        return parse_symbol(text)
    except InvalidSymbolError as error:
        raise BadSymbolError(error.text, TEXTS["market.not_a_symbol"].format(text=error.text)) from error
