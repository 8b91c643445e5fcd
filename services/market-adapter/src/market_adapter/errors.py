"""What can go wrong between a question about the market and its answer.

    NexusError (contracts)
    └── MarketError                   has `reason`, the word that goes out in {error, ticker, reason}
        ├── BadSymbolError            bad_symbol: no spelling of any symbol
        ├── NoDataError               no_data: the provider knows nothing under this symbol
        ├── NotInSampleError          not_in_sample: real perhaps, but the sample data does not hold it
        ├── StaleDataError            stale: what there is is too old to pass for an answer        (retryable)
        ├── ProviderRateLimitedError  rate_limited: the provider wants us to wait                  (retryable)
        ├── ProviderDownError         provider_down: no answer, or none that makes sense           (retryable)
        ├── ImplausibleError          implausible: the provider gives a figure that no market can have
        ├── NotConfiguredError        not_configured: a setting is missing; the text names it
        ├── UnknownPredictionError    unknown_prediction: no prediction has this id
        ├── ActionRefusedError        insufficient_cash, insufficient_position, not_tradable, … : it may not be done
        ├── NotFoundError             not_found: no such order or alert of this user
        ├── NoUserError               no_user: who is calling has no account
        ├── BusyError                 busy: too many change the same account at once               (retryable)
        └── StoreDownError            store_down: accounts cannot be read or written now           (retryable)
    └── TooLateError                  the call's deadline had passed: nothing was done, and TIMEOUT is the answer

One provider never stands in for another in silence, so each of these reaches the caller as it is.
"""

from typing import TypedDict

from contracts.errors import NexusError
from contracts.text import Text


class TickerFailure(TypedDict):
    """A failure in a result that holds several tickers."""

    error: str
    ticker: str
    reason: str


class MarketError(NexusError):
    """A question about one symbol that could not be answered; `text` says what to do, to a person."""

    reason: str = "unknown"

    def __init__(self, ticker: str, text: Text) -> None:
        super().__init__(str(text))
        self.ticker = ticker
        self.text = text

    def as_entry(self, language: str) -> TickerFailure:
        """The failure as {error, ticker, reason}."""
        return {"error": self.text.in_language(language), "ticker": self.ticker, "reason": self.reason}


class BadSymbolError(MarketError):
    """The text is no spelling of a symbol."""

    reason = "bad_symbol"


class NoDataError(MarketError):
    """The provider knows nothing under this symbol, or nothing for the time asked for."""

    reason = "no_data"


class NotInSampleError(MarketError):
    """The sample data does not hold it. It is never made up."""

    reason = "not_in_sample"


class StaleDataError(MarketError):
    """The newest figure is older than it may be."""

    reason = "stale"
    retryable = True


class ProviderRateLimitedError(MarketError):
    """The provider, or our own limiter in front of it, wants us to wait: `retry_after` seconds, if it said so."""

    reason = "rate_limited"
    retryable = True

    def __init__(self, ticker: str, text: Text, retry_after: float | None = None) -> None:
        super().__init__(ticker, text)
        self.retry_after = retry_after


class ProviderDownError(MarketError):
    """The provider gave no answer, or none that makes sense."""

    reason = "provider_down"
    retryable = True


class ImplausibleError(MarketError):
    """The provider gives a figure that no market can have."""

    reason = "implausible"


class NotConfiguredError(MarketError):
    """The provider needs a setting that is not there."""

    reason = "not_configured"


class UnknownPredictionError(MarketError):
    """There is no prediction of this symbol with this id."""

    reason = "unknown_prediction"


class ActionRefusedError(MarketError):
    """The request was understood but may not be carried out; `reason` says why in a word, the text in a sentence."""

    reason = "refused"

    def __init__(self, ticker: str, text: Text, reason: str) -> None:
        super().__init__(ticker, text)
        self.reason = reason


class NotFoundError(MarketError):
    """This user has no order or alert of that id."""

    reason = "not_found"


class NoUserError(MarketError):
    """The caller has no account, so nothing can belong to them."""

    reason = "no_user"


class BusyError(MarketError):
    """Too many change the same account at this moment."""

    reason = "busy"
    retryable = True


class TooLateError(NexusError):
    """A call with side effects was taken after its deadline; nothing was done."""


class StoreDownError(MarketError):
    """The database does not answer; what was asked may or may not have been done: ask again with the same call id."""

    reason = "store_down"
    retryable = True
