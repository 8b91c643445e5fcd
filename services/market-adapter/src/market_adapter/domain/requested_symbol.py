"""Parses a symbol as somebody wrote it."""

from contracts.symbols import InvalidSymbolError, Symbol, parse_symbol
from market_adapter.errors import BadSymbolError
from market_adapter.texts import TEXTS


def requested_symbol(text: str) -> Symbol:
    """The symbol that was requested; raises BadSymbolError if the text is not a valid symbol."""
    try:
        return parse_symbol(text)
    except InvalidSymbolError as error:
        raise BadSymbolError(error.text, TEXTS["market.not_a_symbol"].format(text=error.text)) from error
