"""The market-adapter's errors.

    NexusError (contracts)
    └── MarketError                   has `reason`, a word that clients get in {error, ticker, reason}
        ├── BadSymbolError            bad_symbol: the text is not a valid symbol
        ├── NoDataError               no_data: the provider has no data for this symbol
        ├── NotInSampleError          not_in_sample: the symbol may exist, but the sample data lacks it
        ├── StaleDataError            stale: the newest data is too old to answer with             (retryable)
        ├── ProviderRateLimitedError  rate_limited: the provider wants us to wait                  (retryable)
        ├── ProviderDownError         provider_down: no answer, or an unusable one                 (retryable)
        ├── ImplausibleError          implausible: the provider returned an impossible figure
        ├── NotConfiguredError        not_configured: a setting is missing; the text names it
        ├── UnknownPredictionError    unknown_prediction: no prediction has this id
        ├── ActionRefusedError        insufficient_cash, insufficient_position, not_tradable, …: not permitted
        ├── NotFoundError             not_found: this user has no such order or alert
        ├── NoUserError               no_user: the caller has no account
        ├── BusyError                 busy: too many change the same account at once               (retryable)
        └── StoreDownError            store_down: accounts cannot be read or written now           (retryable)
    └── TooLateError                  the call's deadline had passed: nothing was done; the reply is TIMEOUT

No provider silently replaces another, so each of these errors reaches the caller unchanged.
"""

from contracts.errors import NexusError
from contracts.market_rpc import TickerError
from contracts.text import Text


class MarketError(NexusError):
    """A failed request about one symbol; `text` tells a person what to do."""

    reason: str = "unknown"

    def __init__(self, ticker: str, text: Text) -> None:
        super().__init__(str(text))
        self.ticker = ticker
        self.text = text

    def as_entry(self, language: str) -> TickerError:
        """The failure as {error, ticker, reason}."""
        return TickerError(error=self.text.in_language(language), ticker=self.ticker, reason=self.reason)


class BadSymbolError(MarketError):
    """The text is not a valid symbol."""

    reason = "bad_symbol"


class NoDataError(MarketError):
    """The provider has no data for this symbol, or none for the requested time."""

    reason = "no_data"


class NotInSampleError(MarketError):
    """The sample data lacks it; nothing is ever invented."""

    reason = "not_in_sample"


class StaleDataError(MarketError):
    """The newest figure is too old."""

    reason = "stale"
    retryable = True


class ProviderRateLimitedError(MarketError):
    """The provider, or our own rate limiter, wants us to wait: `retry_after` seconds, if it said how long."""

    reason = "rate_limited"
    retryable = True

    def __init__(self, ticker: str, text: Text, retry_after: float | None = None) -> None:
        super().__init__(ticker, text)
        self.retry_after = retry_after


class ProviderDownError(MarketError):
    """The provider gave no answer, or an unusable one."""

    reason = "provider_down"
    retryable = True


class ImplausibleError(MarketError):
    """The provider returned an impossible figure."""

    reason = "implausible"


class NotConfiguredError(MarketError):
    """The provider needs a setting that is missing."""

    reason = "not_configured"


class UnknownPredictionError(MarketError):
    """This symbol has no prediction with this id."""

    reason = "unknown_prediction"


class ActionRefusedError(MarketError):
    """The request is valid but not permitted; `reason` says why in a word, the text in a sentence."""

    reason = "refused"

    def __init__(self, ticker: str, text: Text, reason: str) -> None:
        super().__init__(ticker, text)
        self.reason = reason


class UnknownIdError(MarketError):
    """This user has no order or alert with this id."""

    reason = "not_found"


class NoUserError(MarketError):
    """The caller has no account, so nothing can belong to them."""

    reason = "no_user"


class BusyError(MarketError):
    """Too many changes of the same account at once."""

    reason = "busy"
    retryable = True


class TooLateError(NexusError):
    """A call with side effects was handled after its deadline; nothing was done."""


class StoreDownError(MarketError):
    """The database does not answer; the change may or may not have been made: repeat the call with the same call id."""

    reason = "store_down"
    retryable = True
