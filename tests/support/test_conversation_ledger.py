"""The ledger of a conversation close over what is right, and name each thing that is not."""

from collections.abc import Sequence
from typing import Any

import pytest

from nexus_cli.drill.ledger import ConversationLedger, DrillMessage, Wrong
from nexus_cli.drill.log_reader import LoggedFact

A, B = "tell me about m00000000aa", "tell me about m00000000bb"


def visitor(seq: int, text: str) -> LoggedFact:
    return LoggedFact(seq, "visitor", {"messageId": f"v{seq}", "text": text})


def answer(seq: int, basis: int, *words: str) -> LoggedFact:
    text = " ".join(["Heard", *(word.rsplit(" ", 1)[-1] for word in words)])
    return LoggedFact(seq, "assistant", {"messageId": f"a{seq}", "turnId": "t", "text": text, "basis": basis})


def operator(seq: int, text: str) -> LoggedFact:
    return LoggedFact(seq, "operator", {"messageId": f"o{seq}", "text": text})


def owner(seq: int, kind: str) -> LoggedFact:
    return LoggedFact(seq, "owner", {"owner": {"kind": kind}, "by": "ana"})


def system(seq: int, code: str, basis: int) -> LoggedFact:
    return LoggedFact(seq, "system", {"messageId": f"s{seq}", "text": "-", "code": code, "basis": basis})


def cancelled(seq: int, basis: int) -> LoggedFact:
    return LoggedFact(seq, "cancel", {"turnId": "t", "basis": basis})


def wrong(log: Sequence[LoggedFact], said: Sequence[DrillMessage], *shown: list[tuple[int, str]]) -> list[Wrong]:
    return [finding.wrong for finding in ConversationLedger("c", list(said), list(shown)).findings(log)]


RIGHT: dict[str, tuple[list[LoggedFact], list[DrillMessage]]] = {
    "an answer each": (
        [visitor(1, A), answer(2, 1, A), visitor(3, B), answer(4, 3, B)],
        [DrillMessage(A, 1), DrillMessage(B, 3)],
    ),
    "a burst answered as one": (
        [visitor(1, A), visitor(2, B), answer(3, 2, A, B)],
        [DrillMessage(A, 1), DrillMessage(B, 2)],
    ),
    "an answer just after a message that it has not seen": (
        [visitor(1, A), visitor(2, B), answer(3, 1, A), answer(4, 2, B)],
        [DrillMessage(A, 1), DrillMessage(B, 2)],
    ),
    "told that it failed": ([visitor(1, A), system(2, "DEADLINE", 1)], [DrillMessage(A, 1)]),
    "stopped by its visitor": ([visitor(1, A), cancelled(2, 1)], [DrillMessage(A, 1)]),
    "answered by a person": (
        [visitor(1, A), owner(2, "human"), operator(3, B), owner(4, "ai")],
        [DrillMessage(A, 1), DrillMessage(B, 3)],
    ),
    "answered after the release": (
        [owner(1, "human"), visitor(2, A), owner(3, "ai"), answer(4, 2, A)],
        [DrillMessage(A, 2)],
    ),
    "a person's turn, with nobody answering yet": ([owner(1, "human"), visitor(2, A)], [DrillMessage(A, 2)]),
    "the same word twice": (
        [visitor(1, "yes"), answer(2, 1), visitor(3, "yes"), answer(4, 3)],
        [DrillMessage("yes", 1), DrillMessage("yes", 3)],
    ),
    "told that the owner has gone, after the answer": (
        [visitor(1, A), answer(2, 1, A), system(3, "OWNER_IDLE", 1)],
        [DrillMessage(A, 1)],
    ),
}
FALSE: dict[str, tuple[list[LoggedFact], list[DrillMessage], Wrong]] = {
    "accepted and gone": ([], [DrillMessage(A, 1)], Wrong.LOST),
    "accepted at another place": ([visitor(1, A), answer(2, 1, A)], [DrillMessage(A, 7)], Wrong.LOST),
    "an operator's message that is gone": ([owner(1, "human")], [DrillMessage(B, 2)], Wrong.LOST),
    "stored twice": ([visitor(1, A), visitor(2, A), answer(3, 2, A)], [DrillMessage(A, 1)], Wrong.STORED_TWICE),
    "nobody said it": ([visitor(1, A), answer(2, 1, A)], [], Wrong.NOBODY_SAID),
    "never acknowledged": ([], [DrillMessage(A)], Wrong.NEVER_ACCEPTED),
    "no answer": ([visitor(1, A)], [DrillMessage(A, 1)], Wrong.UNANSWERED),
    "no answer to the second": (
        [visitor(1, A), visitor(2, B), answer(3, 1, A)],
        [DrillMessage(A, 1), DrillMessage(B, 2)],
        Wrong.UNANSWERED,
    ),
    "no answer after the release": (
        [owner(1, "human"), visitor(2, A), owner(3, "ai")],
        [DrillMessage(A, 2)],
        Wrong.UNANSWERED,
    ),
    "two answers to one message": (
        [visitor(1, A), answer(2, 1, A), answer(3, 1, A)],
        [DrillMessage(A, 1)],
        Wrong.ANSWERED_TWICE,
    ),
    "an answer, and that it failed": (
        [visitor(1, A), answer(2, 1, A), system(3, "DEADLINE", 1)],
        [DrillMessage(A, 1)],
        Wrong.ANSWERED_TWICE,
    ),
    "an answer after it was stopped": (
        [visitor(1, A), cancelled(2, 1), answer(3, 1, A)],
        [DrillMessage(A, 1)],
        Wrong.ANSWERED_TWICE,
    ),
    "an answer after a person's": (
        [visitor(1, A), owner(2, "human"), operator(3, B), owner(4, "ai"), answer(5, 1, A)],
        [DrillMessage(A, 1), DrillMessage(B, 3)],
        Wrong.ANSWERED_TWICE,
    ),
    "an answer over a human": (
        [visitor(1, A), owner(2, "human"), answer(3, 1, A)],
        [DrillMessage(A, 1)],
        Wrong.OVER_A_HUMAN,
    ),
    "an answer while a person is waited for": (
        [visitor(1, A), owner(2, "waiting"), answer(3, 1, A)],
        [DrillMessage(A, 1)],
        Wrong.OVER_A_HUMAN,
    ),
    "an answer to something else": (
        [visitor(1, A), visitor(2, B), answer(3, 2, A)],
        [DrillMessage(A, 1), DrillMessage(B, 2)],
        Wrong.NOT_WHAT_WAS_ASKED,
    ),
    "an answer to no message": (
        [visitor(1, A), answer(3, 2, A)],
        [DrillMessage(A, 1)],
        Wrong.NOT_WHAT_WAS_ASKED,
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_ledger_is_accepted(case: str) -> None:
    log, said = RIGHT[case]
    shown = [(fact.seq, str(fact.data["messageId"])) for fact in log if "messageId" in fact.data]
    assert wrong(log, said, shown) == []


@pytest.mark.parametrize("case", FALSE)
def test_each_false_entry_is_found_and_named(case: str) -> None:
    log, said, expected = FALSE[case]
    assert wrong(log, said) == [expected]


def frames(**false: Any) -> list[Wrong]:
    log = [visitor(1, A), answer(2, 1, A), visitor(3, B), answer(4, 3, B)]
    return wrong(log, [DrillMessage(A, 1), DrillMessage(B, 3)], false["shown"])


@pytest.mark.parametrize(("shown", "expected"), [
    ([(1, "v1"), (2, "a2"), (3, "v3"), (4, "a4")], []),
    ([(3, "v3"), (4, "a4")], []),
    ([(1, "v1"), (2, "a2"), (2, "a2"), (3, "v3"), (4, "a4")], [Wrong.SHOWN_TWICE]),
    ([(1, "v1"), (2, "a2"), (3, "v3")], [Wrong.NOT_SHOWN]),
    ([], [Wrong.NOT_SHOWN] * 4),
    ([(1, "v1"), (3, "v3"), (4, "a4")], [Wrong.NOT_SHOWN]),
    ([(1, "v1"), (3, "v3"), (2, "a2"), (4, "a4")], [Wrong.OUT_OF_ORDER]),
    ([(1, "v1"), (2, "a2"), (3, "v3"), (4, "a4"), (5, "a5")], [Wrong.SHOWN_NOT_THERE]),
])  # fmt: skip
def test_screens_are_held_against_the_log(shown: list[tuple[int, str]], expected: list[Wrong]) -> None:
    assert frames(shown=shown) == expected
