"""The inbox's lists are what a recount of the log and of the desk's facts says, in whatever order these came."""

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.channels import ChatKind
from contracts.conversation import ChatData
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    SystemMessage,
    VisitorMessage,
    Wait,
)
from contracts.events.desk import ConversationUpdated
from memory.adapters.conversation_document import from_document, to_document
from memory.domain.conversation import InboxConversation, fold
from memory.domain.desk import Update, fold_updates
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition

BEGUN = datetime(2026, 5, 1, tzinfo=UTC)
NOWHERE = LogPosition(1, 0)
PEOPLE = ("ana", "ben")
ERA = 1
KINDS = (ChatKind.VISITOR, ChatKind.ASSISTANT, ChatKind.OPERATOR, ChatKind.SYSTEM, ChatKind.OWNER)


@dataclass
class Recount:
    """The same, told step by step in the order in which it happened."""

    status: str = "open"
    owner: tuple[OwnerKind, str | None] = (OwnerKind.AI, None)
    owner_seq: int = 0
    assigned: str | None = None
    assignee: str | None = None
    failed: bool = False
    openings: list[int] = field(default_factory=list[int])

    def fact(self, seq: int, data: ChatData) -> None:
        match data:
            case VisitorMessage():
                self._opened(seq)
            case AssistantMessage() | OperatorMessage():
                self.failed = False
            case SystemMessage():
                self.failed = True
            case OwnerChanged(owner=owner):
                self.failed = False
                self.owner, self.owner_seq = (owner.kind, owner.operator_id), seq
                self.assignee = owner.operator_id if owner.kind is OwnerKind.HUMAN else self.assigned
                if owner.kind is not OwnerKind.AI:
                    self._opened(seq)
            case _:
                pass

    def update(self, data: ConversationUpdated) -> None:
        known = 10**9 if data.basis is None else data.basis
        if data.state is not None:
            self.status = "open" if any(seq > known for seq in self.openings) else data.state
        if data.assignee is not None:
            self.assigned = data.assignee or None
            taken = self.owner[0] is OwnerKind.HUMAN and self.owner_seq > known
            self.assignee = self.owner[1] if taken else self.assigned

    def _opened(self, seq: int) -> None:
        self.status = "open"
        self.openings.append(seq)

    @property
    def lists(self) -> set[str]:
        if self.status != "open":
            return {"all", self.status}
        match self.owner[0]:
            case OwnerKind.WAITING:
                state = "needs_human"
            case OwnerKind.HUMAN:
                state = "human"
            case OwnerKind.AI:
                state = "stuck" if self.failed else "ai"
        return {"all", state, f"mine:{self.assignee}" if self.assignee else "unassigned"}


def lists_of(state: InboxConversation) -> set[str]:
    """As they are stored, and read again."""
    row: Any = to_document(state)
    again = to_document(from_document(row))
    assert again | {"version": 0} == row | {"version": 0}
    assert state.is_swept == bool({"waitingSince", "dueAt"} & row.keys())
    found = {"all"} if "inboxKey" in row else set[str]()
    if "stateKey" in row:
        found.add(row["stateKey"].split("/")[0].partition(":")[2])
    if "operatorKey" in row:
        found.add(f"mine:{row['operatorKey'].split('/')[0].partition(':')[2]}")
    if "unassignedKey" in row:
        found.add("unassigned")
    return found


def data_of(kind: int, seq: int, variant: int) -> ChatData:
    match kind:
        case 0:
            return VisitorMessage(message_id=f"m{seq}", client_message_id=f"c{seq}", text="hola")
        case 1:
            return AssistantMessage(message_id=f"m{seq}", turn_id="t", basis=seq, text="x", model="m", config_version=1)
        case 2:
            return OperatorMessage(message_id=f"m{seq}", text="hello", operator_id=PEOPLE[variant % 2])
        case 3:
            return SystemMessage(message_id=f"m{seq}", text="x", code="DEADLINE")
        case _:
            kinds = tuple(OwnerKind)[variant % 3]
            person = PEOPLE[variant // 3 % 2] if kinds is OwnerKind.HUMAN else None
            return OwnerChanged(owner=Owner(kind=kinds, operator_id=person), by="somebody")


def update_of(variant: int, basis: int | None) -> ConversationUpdated:
    data = ConversationUpdated(company_id="acme", conversation_id="c1", by="ana", basis=basis)
    if variant % 2:
        return data.model_copy(update={"assignee": ("", *PEOPLE)[variant // 2 % 3]})
    return data.model_copy(update={"state": ("open", "resolved", "snoozed")[variant // 2 % 3]})


# A step: what it is (0-4 a fact, more an update), which one, how far behind its maker was (3: it does not say).
steps = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=25)


@given(history=steps, seed=st.integers(0, 10**6))
@settings(max_examples=300, deadline=None)
def test_each_conversation_is_in_exactly_the_lists_that_a_recount_says(
    history: list[tuple[int, int, int]], seed: int
) -> None:
    shuffle = random.Random(seed)
    recount, facts, updates, seq = Recount(), list[LogFact](), list[Update](), 0
    for number, (kind, variant, behind) in enumerate([(0, 0, 0), *history], start=1):
        at = BEGUN + timedelta(minutes=number)
        if kind <= 4:
            seq += 1
            data = data_of(kind, seq, variant)
            facts.append(LogFact("acme", "c1", KINDS[kind], LogPosition(ERA, seq), f"e{seq}", at, at, data, b""))
            recount.fact(seq, data)
        else:
            told = update_of(variant, None if behind == 3 else max(seq - behind, 0))
            updates.append(Update(f"u{number}", LogPosition(int(at.timestamp() * 1000), number), told))
            recount.update(told)
    facts += shuffle.sample(facts, len(facts) // 2)
    updates += shuffle.sample(updates, len(updates) // 2)
    shuffle.shuffle(facts)
    shuffle.shuffle(updates)
    state = InboxConversation("acme", "c1")
    while facts or updates:
        cut = shuffle.randint(0, len(facts))
        state = fold(state, facts[:cut], NOWHERE, {})
        facts = facts[cut:]
        if not facts or shuffle.random() < 0.3:
            state = replace(state, desk=fold_updates(updates, ERA))
            if not facts:
                break
    assert lists_of(state) == recount.lists


def test_a_visitor_whose_owner_was_away_keeps_their_place_in_the_queue() -> None:
    def waiting(seq: int, wait: Wait | None) -> InboxConversation:
        change = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="memory", reason="owner_idle", wait=wait)
        at = BEGUN + timedelta(minutes=seq)
        facts = [LogFact("acme", "c1", ChatKind.OWNER, LogPosition(ERA, seq), f"e{seq}", at, at, change, b"")]
        return fold(InboxConversation("acme", "c1"), facts, NOWHERE, {})

    returned, newer = waiting(9, Wait(seq=3, since=BEGUN)), waiting(5, None)
    assert to_document(returned)["stateKey"] < to_document(newer)["stateKey"]
    assert from_document(to_document(returned)).waiting_since == BEGUN


def test_an_update_about_a_conversation_that_nobody_has_written_in_puts_it_in_no_list() -> None:
    told = ConversationUpdated(company_id="acme", conversation_id="c1", by="ana", labels=["vip"])
    state = replace(InboxConversation("acme", "c1"), desk=fold_updates([Update("u1", LogPosition(5, 1), told)], ERA))
    assert lists_of(state) == set()


def test_an_update_that_names_a_sequence_of_a_log_that_is_gone_goes_by_its_time() -> None:
    log_made = int(BEGUN.timestamp() * 1000)
    resolved = ConversationUpdated(company_id="acme", conversation_id="c1", by="ana", state="resolved", basis=500)
    earlier = Update("u1", LogPosition(log_made - 60_000, 9), resolved)
    at = BEGUN + timedelta(minutes=1)
    hello = LogFact(
        "acme", "c1", ChatKind.VISITOR, LogPosition(log_made, 1), "e1", at, at, data_of(0, 1, 0), b""
    )  # fmt: skip
    state = replace(InboxConversation("acme", "c1"), desk=fold_updates([earlier], log_made))
    assert fold(state, [hello], NOWHERE, {}).status == "open"
