"""From what somebody wrote to what is asked for."""

from contracts.symbols import InvalidSymbolError, Symbol, parse_symbol
from contracts.text import Text
from market_adapter.errors import BadSymbolError


def asked_symbol(text: str) -> Symbol:
    """The symbol that was asked for; raises BadSymbolError when it is no spelling of any."""
    try:
        return parse_symbol(text)
    except InvalidSymbolError as error:
        said = Text(
            es=f"{error.text!r} no es un símbolo: una acción se escribe AAPL o BRK.B, un índice ^GSPC, un par BTC/USD",
            en=str(error),
        )
        raise BadSymbolError(error.text, said) from error
