"""Keeps account of one conversation during a drill: compares what its people sent and saw with the log.

Every message of a visitor contains a unique token, and the model answers with the tokens of the messages it was asked.
So each answer shows what it answers, and its `basis` shows which message it settles. A burst that is answered together
counts as one answer; a message whose acknowledgement was lost is sent again under its own id and counts once.
`findings` is a pure function of what was collected, without clocks or servers.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from contracts.errors import SystemCode
from nexus_cli.drill.log_reader import LoggedFact

TOKEN = re.compile(r"\bm[0-9a-f]{10}\b")
FAILURES = frozenset({SystemCode.LLM_UNAVAILABLE, SystemCode.DEADLINE, SystemCode.BUDGET_SPENT, SystemCode.INTERNAL})
"""Codes of system messages that stand where an answer would."""


class Wrong(StrEnum):
    """The ways in which a conversation can be wrong."""

    LOST = "lost"
    """Accepted, and not in the log."""
    STORED_TWICE = "stored twice"
    NOBODY_SAID = "nobody said"
    """A message is in the log, but nobody has sent it."""
    NEVER_ACCEPTED = "never accepted"
    """Sent again and again when all was well, and not acknowledged."""
    UNANSWERED = "unanswered"
    """The conversation is at rest, belongs to the AI, and nothing settles its newest message."""
    ANSWERED_TWICE = "answered twice"
    """An answer to what was settled before."""
    NOT_WHAT_WAS_ASKED = "not what was asked"
    """An answer that does not name the message that its basis says."""
    OVER_A_HUMAN = "over a human"
    """An answer between a take-over and its release."""
    SHOWN_TWICE = "shown twice"
    """A client that went on from where it was got the same message again."""
    SHOWN_NOT_THERE = "shown, not in the log"
    NOT_SHOWN = "not shown"
    """A message is in the log, but a client that has caught up never got it."""
    OUT_OF_ORDER = "out of order"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference from the log: its kind, and where it is."""

    wrong: Wrong
    conversation: str
    about: str

    def __str__(self) -> str:
        return f"{self.wrong}: {self.about} in {self.conversation}"


@dataclass(slots=True)
class DrillMessage:
    """One message of a person. `seq`: its sequence by its acknowledgement; None: no acknowledgement came."""

    text: str
    seq: int | None = None
    sent_at: float = 0.0


@dataclass(slots=True)
class ConversationLedger:
    """One conversation. `echoes`: whether answers name the tokens that they answer, as a scripted model's do. `shown`:
    for each client the (seq, id) of every message frame since its last snapshot, in order, and those of the snapshot;
    all of them have caught up with the log's end before the ledgers are compared with the log."""

    conversation: str
    said: list[DrillMessage] = field(default_factory=list[DrillMessage])
    shown: list[list[tuple[int, str]]] = field(default_factory=list[list[tuple[int, str]]])
    echoes: bool = True

    def findings(self, log: Sequence[LoggedFact]) -> list[Mismatch]:
        """Returns what is wrong, once nothing more happens in the conversation."""
        found = [*self._messages(log), *self._answers(log)]
        for client in self.shown:
            found += self._frames(client, log)
        return [Mismatch(wrong, self.conversation, about) for wrong, about in found]

    def _messages(self, log: Sequence[LoggedFact]) -> Iterator[tuple[Wrong, str]]:
        stored = [(fact.seq, str(fact.data["text"])) for fact in log if fact.kind in ("visitor", "operator")]
        times, asked = Counter(text for _, text in stored), Counter(one.text for one in self.said)
        for one in self.said:
            if one.seq is None:
                yield Wrong.NEVER_ACCEPTED, repr(one.text)
            elif (one.seq, one.text) not in stored:
                yield Wrong.LOST, f"{one.text!r}, accepted as {one.seq}"
        for text, often in times.items():
            if text not in asked:
                yield Wrong.NOBODY_SAID, repr(text)
            elif often > asked[text]:
                yield Wrong.STORED_TWICE, repr(text)

    def _answers(self, log: Sequence[LoggedFact]) -> Iterator[tuple[Wrong, str]]:
        settled = newest = 0
        owner = "ai"
        texts: dict[int, str] = {}
        for fact in log:
            basis = int(fact.data.get("basis") or 0)
            match fact.kind:
                case "visitor":
                    newest, texts[fact.seq] = fact.seq, str(fact.data["text"])
                case "operator":
                    settled = max(settled, fact.seq)
                case "owner":
                    owner = fact.data["owner"]["kind"]
                case "assistant":
                    about = f"{fact.data['text']!r} at {fact.seq}, basis {basis}"
                    if owner != "ai":
                        yield Wrong.OVER_A_HUMAN, about
                    if basis <= settled:
                        yield Wrong.ANSWERED_TWICE, about
                    asked = TOKEN.findall(texts.get(basis, ""))
                    if basis not in texts or (self.echoes and not all(token in fact.data["text"] for token in asked)):
                        yield Wrong.NOT_WHAT_WAS_ASKED, about
                case "system" if fact.data["code"] in FAILURES and basis <= settled:
                    yield Wrong.ANSWERED_TWICE, f"{fact.data['code']} at {fact.seq}, basis {basis}"
                case _:
                    pass
            settled = max(settled, basis)
        if owner == "ai" and newest > settled:
            yield Wrong.UNANSWERED, f"{texts[newest]!r} at {newest}"

    def _frames(self, client: Sequence[tuple[int, str]], log: Sequence[LoggedFact]) -> Iterator[tuple[Wrong, str]]:
        there = {str(fact.data["messageId"]): fact.seq for fact in log if "messageId" in fact.data}
        for (before, _), (after, identity) in pairwise(client):
            if after < before:
                yield Wrong.OUT_OF_ORDER, f"{identity} at {after} after {before}"
        for identity, often in Counter(identity for _, identity in client).items():
            if identity not in there:
                yield Wrong.SHOWN_NOT_THERE, identity
            elif often > 1:
                yield Wrong.SHOWN_TWICE, f"{identity} at {there[identity]}"
        first = client[0][0] if client else 0
        seen = {identity for _, identity in client}
        for identity, seq in there.items():
            if seq >= first and identity not in seen:
                yield Wrong.NOT_SHOWN, f"{identity} at {seq}"


def settled_at(log: Sequence[LoggedFact]) -> int:
    """The newest sequence up to which every visitor message of the log is settled."""
    return max((fact.seq if fact.kind == "operator" else int(fact.data.get("basis") or 0) for fact in log), default=0)
