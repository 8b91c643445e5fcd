"""The ledger of a fault campaign close over what is right, and name what is not."""

import pytest

from tests.support.effects_ledger import EffectsLedger, Fault, View

A, R, U = View.ACCEPTED, View.REJECTED, View.UNKNOWN


@pytest.mark.parametrize(("views", "there", "faults"), [
    ([A], 1, []),
    ([R], 0, []),
    ([U, A], 1, []),
    ([U, U, R], 0, []),
    ([A, U, A], 1, []),
    ([A], 0, [Fault.LOST]),
    ([U, A], 0, [Fault.LOST]),
    ([R], 1, [Fault.DONE_ALL_THE_SAME]),
    ([A], 2, [Fault.DOUBLED]),
    ([U], 2, [Fault.DOUBLED, Fault.STILL_UNKNOWN]),
    ([A, R], 0, [Fault.TOLD_BOTH]),
    ([R, A], 1, [Fault.TOLD_BOTH]),
    ([U], 0, [Fault.STILL_UNKNOWN]),
    ([], 1, [Fault.STILL_UNKNOWN]),
])  # fmt: skip
def test_what_was_told_and_what_is_there_are_compared(views: list[View], there: int, faults: list[Fault]) -> None:
    ledger = EffectsLedger()
    ledger.ask("k1", "look 1")
    for view in views:
        ledger.see("k1", view)
    assert [(one.fault, one.key) for one in ledger.findings(["look 1"] * there)] == [(fault, "k1") for fault in faults]


def test_what_nobody_asked_for_is_named_by_its_basis() -> None:
    ledger = EffectsLedger()
    (finding,) = ledger.findings(["look 7", "look 7"])
    assert (finding.fault, finding.basis) == (Fault.NOBODY_ASKED, "look 7")
    assert str(finding) == "nobody asked: - (look 7)"


def test_two_effects_cannot_have_the_same_basis() -> None:
    """Two messages with the same words, answered as one, could not be told from one that was lost."""
    ledger = EffectsLedger()
    ledger.ask("k1", "look 1")
    ledger.ask("k1", "look 1")
    with pytest.raises(ValueError, match="belongs to k1"):
        ledger.ask("k2", "look 1")
    with pytest.raises(ValueError, match="asked for with 'look 1' before"):
        ledger.ask("k1", "look 2")


def test_what_has_no_answer_yet_is_to_be_asked_again() -> None:
    ledger = EffectsLedger()
    for number in range(4):
        ledger.ask(f"k{number}", f"look {number}")
    ledger.see("k1", A)
    ledger.see("k2", U)
    ledger.see("k3", R)
    assert [one.key for one in ledger.unsettled] == ["k0", "k2"]
    assert (ledger.count()[A], ledger.count()[R], ledger.count()[U]) == (1, 1, 2)
    for number in (0, 2):
        ledger.see(f"k{number}", A)
    assert ledger.unsettled == []
    assert ledger.findings(["look 0", "look 1", "look 2"]) == []
