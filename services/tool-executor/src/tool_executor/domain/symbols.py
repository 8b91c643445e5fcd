"""One spelling of a symbol, so that spellings share a cached result: BTC/USD, BRK.B, ^GSPC. USDT is not USD.

The market-adapter decides what a symbol is; what this does not recognise goes to it as it came, in capitals.
"""

import re

_QUOTES = "USDT|USDC|BUSD|USD|EUR|GBP|JPY|CHF|BTC|ETH"
_COINS = "BTC|ETH|SOL|XRP|ADA|DOGE|BNB|DOT|LTC|LINK|AVAX|MATIC|TRX"
_SLASHED = re.compile(r"([A-Z0-9]{2,10})/([A-Z0-9]{2,10})")
_PAIR = re.compile(rf"([A-Z0-9]{{2,10}})[-_: ]({_QUOTES})")
_JOINED = re.compile(rf"({_COINS})({_QUOTES})")
_SHARE_CLASS = re.compile(r"([A-Z0-9]{1,10})[-/_: ]([A-Z])")


def normal_symbol(symbol: str) -> str:
    """The symbol as the rest of Nexus writes it: btc-usd → BTC/USD, brk-b → BRK.B, $aapl → AAPL."""
    upper = symbol.strip().upper().removeprefix("$")
    for pattern in (_SLASHED, _PAIR, _JOINED):
        if pair := pattern.fullmatch(upper):
            return f"{pair[1]}/{pair[2]}"
    if share := _SHARE_CLASS.fullmatch(upper):
        return f"{share[1]}.{share[2]}"
    return upper
