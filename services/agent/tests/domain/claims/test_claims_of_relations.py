"""How two shares move together, and on how many days one rose: called what the figures say."""

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import facts_of_results


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("IBM and MSFT were closely related (0.60).", "IBM and MSFT were loosely related (0.06)."),
        ("The correlation of IBM and MSFT was high, at 0.60.", "The correlation of IBM and MSFT was low, at 0.60."),
        ("La correlación entre IBM y MSFT fue alta, de 0,60.", "La correlación entre IBM y MSFT fue baja: 0,60."),
        ("IBM had 126 up days and 124 down days.", "IBM had 124 up days and 126 down days."),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_correlation_is_called_what_it_is_and_days_are_counted_by_their_direction(
    true: str, false: str, *, strict: bool
) -> None:
    period = {"from": "2012-03-02", "to": "2013-03-01", "asked": "1y"}
    entries = [{"ticker": "IBM", "figure": "correlation", "value": 0.595, "other": "MSFT", **period}]
    entries += [{"ticker": "IBM", "figure": name, "value": value, "other": None, **period}
                for name, value in (("up_days", 126.0), ("down_days", 124.0))]  # fmt: skip
    known = facts_of_results([("get_performance", {"figures": entries})])
    assert ClaimChecker(known, "1y", strict=strict).reasons(true) == ()
    assert ClaimChecker(known, "1y", strict=strict).reasons(false)
