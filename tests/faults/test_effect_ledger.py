"""The ledger of effects accepts what is right, and names each thing that is not."""

import pytest

from tests.faults.effect_ledger import EffectLedger, Stores
from tests.support.effects_ledger import Fault, View

WORD, OTHER = "m00000000aa", "m00000000bb"
ORDER = "1.007"


def prepared(*answers: str) -> EffectLedger:
    """Somebody asked for an order in the chat, and the log holds these answers."""
    ledger = EffectLedger()
    ledger.prepared.ask(WORD, ORDER)
    for answer in answers:
        ledger.read(answer)
    return ledger


def alert(*answers: str) -> EffectLedger:
    """Somebody asked for two alerts at once."""
    ledger = EffectLedger()
    for word in (WORD, OTHER):
        ledger.alerts.ask(word, word)
    for answer in answers:
        ledger.read(answer)
    return ledger


def yes(*views: View) -> EffectLedger:
    """An order was prepared, and its customer said yes and was told so."""
    ledger = prepared(f"Heard {WORD} made {WORD}")
    ledger.placed.ask("action", ORDER)
    for view in views:
        ledger.placed.see("action", view)
    return ledger


def no() -> EffectLedger:
    """An order was prepared, and its customer said no."""
    ledger = prepared(f"Heard {WORD} made {WORD}")
    ledger.refused.add(ORDER)
    return ledger


def taken_back(view: View) -> EffectLedger:
    """Both alerts were made; one was taken back."""
    ledger = alert(f"Heard {WORD} {OTHER} made {WORD} made {OTHER}")
    ledger.deleted.ask("key", OTHER)
    ledger.deleted.see("key", view)
    return ledger


BOTH = f"Heard {WORD} {OTHER} made {WORD} made {OTHER}"
WAITS, STANDS = Stores(prepared=[ORDER]), Stores(prepared=[ORDER], placed=[ORDER])
RIGHT = {
    "an order waits": (prepared(f"made {WORD}"), WAITS),
    "an order was refused": (prepared(f"refused {WORD}"), Stores()),
    "nobody was told, and it is there": (prepared(), WAITS),
    "nobody was told, and it is not there": (prepared(f"unknown {WORD}"), Stores()),
    "a yes": (yes(View.ACCEPTED), STANDS),
    "a yes whose answer was lost, asked again": (yes(View.UNKNOWN, View.ACCEPTED), STANDS),
    "a yes that the market refused": (yes(View.REJECTED), Stores()),
    "a no, still listed": (no(), WAITS),
    "a no": (no(), Stores()),
    "two alerts in one answer": (alert(BOTH), Stores(alerts=[WORD, OTHER])),
    "two alerts, an answer each": (alert(f"made {WORD}", f"made {OTHER}"), Stores(alerts=[WORD, OTHER])),
    "an alert taken back": (taken_back(View.ACCEPTED), Stores(alerts=[WORD])),
}
FALSE = {
    "an order that was said to wait, and does not": (
        prepared(f"made {WORD}"),
        Stores(),
        [("order prepared", Fault.LOST)],
    ),
    "an order prepared twice": (
        prepared(f"made {WORD}"),
        Stores(prepared=[ORDER, ORDER]),
        [("order prepared", Fault.DOUBLED)],
    ),
    "an order that was said to be refused, and waits": (
        prepared(f"refused {WORD}"),
        WAITS,
        [("order prepared", Fault.DONE_ALL_THE_SAME)],
    ),
    "an order placed without a word": (
        prepared(f"made {WORD}"),
        STANDS,
        [("order placed", Fault.NOBODY_ASKED)],
    ),
    "an order placed after a no": (no(), STANDS, [("order placed", Fault.NOBODY_ASKED)]),
    "an order confirmed, and not placed": (yes(View.ACCEPTED), WAITS, [("order placed", Fault.LOST)]),
    "an order confirmed and gone": (
        yes(View.ACCEPTED),
        Stores(),
        [("order prepared", Fault.LOST), ("order placed", Fault.LOST)],
    ),
    "an order told to be rejected, and placed": (
        yes(View.REJECTED),
        STANDS,
        [("order placed", Fault.DONE_ALL_THE_SAME)],
    ),
    "an order placed twice": (
        yes(View.ACCEPTED),
        Stores(prepared=[ORDER, ORDER], placed=[ORDER, ORDER]),
        [("order prepared", Fault.DOUBLED), ("order placed", Fault.DOUBLED)],
    ),
    "an order told to be placed, and not to be": (
        yes(View.ACCEPTED, View.REJECTED),
        STANDS,
        [("order placed", Fault.TOLD_BOTH)],
    ),
    "a yes of which nobody can tell": (yes(View.UNKNOWN), STANDS, [("order placed", Fault.STILL_UNKNOWN)]),
    "an alert of a burst that was said to be made, and is not there": (
        alert(BOTH),
        Stores(alerts=[WORD]),
        [("alert", Fault.LOST)],
    ),
    "an alert made twice": (alert(BOTH), Stores(alerts=[WORD, WORD, OTHER]), [("alert", Fault.DOUBLED)]),
    "an alert that nobody asked for": (
        EffectLedger(),
        Stores(alerts=[WORD]),
        [("alert", Fault.NOBODY_ASKED)],
    ),
    "an alert taken back, and there": (
        taken_back(View.ACCEPTED),
        Stores(alerts=[WORD, OTHER]),
        [("alert taken back", Fault.LOST)],
    ),
    "an alert gone, though it was not taken back": (
        taken_back(View.REJECTED),
        Stores(alerts=[WORD]),
        [("alert", Fault.LOST)],
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_ledger_is_accepted(case: str) -> None:
    ledger, stores = RIGHT[case]
    assert list(ledger.findings(stores)) == []


@pytest.mark.parametrize("case", FALSE)
def test_each_false_entry_is_found_and_named(case: str) -> None:
    ledger, stores, expected = FALSE[case]
    assert [(what, finding.fault) for what, finding in ledger.findings(stores)] == expected
