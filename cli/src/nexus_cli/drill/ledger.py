"""The ledger of one conversation in a drill: what its people sent and saw, compared with the log.

Every message of a visitor contains a unique token, and the model repeats the tokens of the messages it answers. So each
answer shows what it answers, and its `basis` shows which message it settles. A burst that is answered together counts
as one answer; a message whose acknowledgement was lost is sent again under the same id and counts once. `findings` is a
pure function of the collected data, without clocks or servers.
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
"""Codes of system messages that replace an answer."""


class Wrong(StrEnum):
    """The ways in which a conversation can be wrong."""

    LOST = "lost"
    """A message was accepted but is not in the log."""
    STORED_TWICE = "stored twice"
    NOBODY_SAID = "nobody said"
    """A message is in the log, but nobody has sent it."""
    NEVER_ACCEPTED = "never accepted"
    """A message was sent repeatedly while all was well, and never acknowledged."""
    UNANSWERED = "unanswered"
    """The conversation is at rest and belongs to the AI, but its newest message is not settled."""
    ANSWERED_TWICE = "answered twice"
    """An answer to messages that were already settled."""
    NOT_WHAT_WAS_ASKED = "not what was asked"
    """An answer without the token of the message at its basis."""
    OVER_A_HUMAN = "over a human"
    """An answer between a take-over and its release."""
    SHOWN_TWICE = "shown twice"
    """A client that resumed got a message a second time."""
    SHOWN_NOT_THERE = "shown, not in the log"
    NOT_SHOWN = "not shown"
    """A message is in the log, but a client that has caught up never got it."""
    OUT_OF_ORDER = "out of order"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference from the log."""

    wrong: Wrong
    conversation: str
    about: str

    def __str__(self) -> str:
        return f"{self.wrong}: {self.about} in {self.conversation}"


@dataclass(slots=True)
class DrillMessage:
    """One message of a person. `seq` is from its acknowledgement; None if none arrived."""

    text: str
    seq: int | None = None
    sent_at: float = 0.0


@dataclass(slots=True)
class ConversationLedger:
    """One conversation. `sent`: its people's messages. `shown`: for each client the (seq, id) of every message in its
    last snapshot and in the frames after it, in order; every client must have caught up with the log before `findings`
    is called. `echoes`: whether answers repeat the tokens of the messages they answer, as a scripted model's do."""

    conversation: str
    sent: list[DrillMessage] = field(default_factory=list[DrillMessage])
    shown: list[list[tuple[int, str]]] = field(default_factory=list[list[tuple[int, str]]])
    echoes: bool = True

    def findings(self, log: Sequence[LoggedFact]) -> list[Mismatch]:
        """The differences from the log, once nothing more happens in the conversation."""
        differences = [*self._messages(log), *self._answers(log)]
        for client in self.shown:
            differences += self._frames(client, log)
        return [Mismatch(kind, self.conversation, about) for kind, about in differences]

    def _messages(self, log: Sequence[LoggedFact]) -> Iterator[tuple[Wrong, str]]:
        stored = [(fact.seq, str(fact.data["text"])) for fact in log if fact.kind in ("visitor", "operator")]
        stored_counts, sent_counts = Counter(text for _, text in stored), Counter(message.text for message in self.sent)
        for message in self.sent:
            if message.seq is None:
                yield Wrong.NEVER_ACCEPTED, repr(message.text)
            elif (message.seq, message.text) not in stored:
                yield Wrong.LOST, f"{message.text!r}, accepted as {message.seq}"
        for text, count in stored_counts.items():
            if text not in sent_counts:
                yield Wrong.NOBODY_SAID, repr(text)
            elif count > sent_counts[text]:
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
                    tokens = TOKEN.findall(texts.get(basis, ""))
                    if basis not in texts or (self.echoes and not all(token in fact.data["text"] for token in tokens)):
                        yield Wrong.NOT_WHAT_WAS_ASKED, about
                case "system" if fact.data["code"] in FAILURES and basis <= settled:
                    yield Wrong.ANSWERED_TWICE, f"{fact.data['code']} at {fact.seq}, basis {basis}"
                case _:
                    pass
            settled = max(settled, basis)
        if owner == "ai" and newest > settled:
            yield Wrong.UNANSWERED, f"{texts[newest]!r} at {newest}"

    def _frames(self, client: Sequence[tuple[int, str]], log: Sequence[LoggedFact]) -> Iterator[tuple[Wrong, str]]:
        logged = {str(fact.data["messageId"]): fact.seq for fact in log if "messageId" in fact.data}
        for (earlier, _), (later, identity) in pairwise(client):
            if later < earlier:
                yield Wrong.OUT_OF_ORDER, f"{identity} at {later} after {earlier}"
        for identity, count in Counter(identity for _, identity in client).items():
            if identity not in logged:
                yield Wrong.SHOWN_NOT_THERE, identity
            elif count > 1:
                yield Wrong.SHOWN_TWICE, f"{identity} at {logged[identity]}"
        first_seq = client[0][0] if client else 0
        shown_ids = {identity for _, identity in client}
        for identity, seq in logged.items():
            if seq >= first_seq and identity not in shown_ids:
                yield Wrong.NOT_SHOWN, f"{identity} at {seq}"


def settled_at(log: Sequence[LoggedFact]) -> int:
    """The sequence up to which all visitor messages in the log are settled."""
    return max((fact.seq if fact.kind == "operator" else int(fact.data.get("basis") or 0) for fact in log), default=0)
