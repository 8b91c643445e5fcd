"""The checks at the end of a simulation, which must hold whatever went wrong before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from contracts.channels import MESSAGE_KINDS, ChatKind, parse_chat
from contracts.errors import NexusError
from tests.simulation.memory import Memory, Told
from tests.simulation.model import ORDER, PLACED
from tests.simulation.people import SocketClient
from tests.simulation.streams import SimulatedStream

COMPANY = "demo"
_FAILURES = ("LLM_UNAVAILABLE", "DEADLINE", "BUDGET_SPENT", "INTERNAL")


def of_log(stream: SimulatedStream, beside_human: bool) -> list[str]:
    """Checks that each visitor message is settled, no answer is doubled, and none is given while a person owns the
    chat."""
    wrong: list[str] = []
    settled: dict[str, int] = {}
    newest: dict[str, int] = {}
    owner: dict[str, str] = {}
    messages: Counter[str] = Counter()
    for stored in stream.log:
        address = parse_chat(stored.subject)
        if address is None:
            continue
        name, seq = address.conversation, stored.seq
        data: dict[str, Any] = orjson.loads(stored.data)["data"]
        before = settled.get(name, 0)
        if "messageId" in data:
            messages[data["messageId"]] += 1
            if messages[data["messageId"]] > 1 and seq not in stream.copies:
                wrong.append(f"{seq}: {address.kind.short} message {data['messageId']} is there twice")
        match address.kind:
            case ChatKind.VISITOR:
                newest[name] = seq
            case ChatKind.OPERATOR:
                settled[name] = seq
            case ChatKind.OWNER:
                owner[name] = data["owner"]["kind"]
            case _:
                basis = int(data.get("basis") or 0)
                if address.kind is ChatKind.ASSISTANT:
                    if basis <= before:
                        wrong.append(f"{seq}: answers {basis}, but {before} was settled already")
                    if owner.get(name, "ai") != "ai" and not beside_human:
                        wrong.append(f"{seq}: said over a person")
                settled[name] = max(before, basis)
    wrong.extend(f"{name}: message {seq} is not settled" for name, seq in newest.items() if settled.get(name, 0) < seq)
    return wrong


def of_effects(effects: Iterable[tuple[str, str]], stream: SimulatedStream) -> list[str]:
    """Checks that no order is placed twice, and that every order an answer reports is placed."""
    arguments_list = [json.loads(arguments) for _, arguments in effects]
    orders = Counter(effect["what"] for effect in arguments_list if effect["what"].startswith(ORDER))
    wrong = [f"{count} effects of {what}" for what, count in orders.items() if count > 1]
    placed = {effect["how"] for effect in arguments_list}
    for stored in stream.log:
        if stored.subject.endswith(ChatKind.ASSISTANT.value):
            reference = orjson.loads(stored.data)["data"]["text"].partition(PLACED)[2]
            if reference and reference not in placed:
                wrong.append(f"{stored.seq}: says {PLACED}{reference}, and it is not")
    return wrong


def of_journals(stream: SimulatedStream) -> list[str]:
    """Checks that a turn's journal loses no call and changes none."""
    wrong: list[str] = []
    before: dict[str, tuple[str, dict[str, Any]]] = {}
    for stored in stream.log:
        data = orjson.loads(stored.data)["data"]
        if "turnId" in data:
            calls = {call["callId"]: call["arguments"] for call in data["calls"]}
            turn, known = before.get(stored.subject, ("", {}))
            if turn == data["turnId"] and any(calls.get(name) != arguments for name, arguments in known.items()):
                wrong.append(f"TURNS {stored.seq}: a journal has lost a call")
            before[stored.subject] = data["turnId"], calls
    return wrong


def of_client(client: SocketClient, stream: SimulatedStream) -> list[str]:
    """Checks that the client got each durable fact once and in order, and that each message it sent is in the log at
    the sequence it was told."""
    wrong = list(client.faults)
    tree = f"chat.demo.{client.conversation}."
    log = {one.seq: one for one in stream.log if one.subject.startswith(tree)}
    missing = client.behind(stream)
    if missing:
        wrong.append(f"{client.name}: was never told {missing}")
    for message_id, text in client.texts.items():
        stored = log.get(client.acknowledged.get(message_id, 0))
        if stored is None:
            wrong.append(f"{client.name}: {text!r} is lost")
        elif orjson.loads(stored.data)["data"]["text"] != text:
            wrong.append(f"{client.name}: {text!r} is not what {stored.seq} says")
    return wrong


@dataclass
class Recounted:
    """A conversation according to the log. `messages`: sequence and id, in order; a copy of an event is not counted."""

    conversation: str
    facts: list[int] = field(default_factory=list[int])
    messages: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    owner: dict[str, Any] = field(default_factory=lambda: {"kind": "ai"})
    stuck: bool = False

    @property
    def state(self) -> str:
        """Returns its state in the inbox."""
        kind = self.owner["kind"]
        return {"waiting": "needs_human", "human": "human"}.get(kind, "stuck" if self.stuck else "ai")


def recounted(stream: SimulatedStream, conversation: str) -> Recounted:
    """Builds a conversation's state from the log alone."""
    conversation_state = Recounted(conversation)
    seen: set[str] = set()
    for stored in stream.log:
        address = parse_chat(stored.subject)
        if address is None or address.conversation != conversation:
            continue
        event = orjson.loads(stored.data)
        if event["id"] in seen:
            continue
        seen.add(event["id"])
        data: dict[str, Any] = event["data"]
        conversation_state.facts.append(stored.seq)
        if address.kind in MESSAGE_KINDS:
            conversation_state.messages.append((stored.seq, data["messageId"]))
        match address.kind:
            case ChatKind.OWNER:
                conversation_state.owner, conversation_state.stuck = data["owner"], False
            case ChatKind.ASSISTANT | ChatKind.OPERATOR:
                conversation_state.stuck = False
            case ChatKind.SYSTEM:
                conversation_state.stuck = conversation_state.stuck or data.get("code") in _FAILURES
            case _:
                pass
    return conversation_state


def of_histories(told: Iterable[Told], expected: Sequence[Recounted]) -> list[str]:
    """Checks that every history memory gave holds exactly the log's messages."""
    by_name = {history.conversation: [seq for seq, _ in history.messages] for history in expected}
    wrong: list[str] = []
    for history in told:
        log = [seq for seq in by_name.get(history.conversation, ()) if seq <= history.up_to][-history.limit :]
        if list(history.seqs) != log:
            wrong.append(f"memory: a history up to {history.up_to} said {list(history.seqs)}, and the log has {log}")
    return wrong


async def of_memory(memory: Memory, log: Recounted) -> list[str]:
    """Checks that the stored conversation equals the log's."""
    try:
        return await _stored(memory, log)
    except NexusError as error:
        return [f"does not tell of {log.conversation}: {error!r}"]


async def _stored(memory: Memory, log: Recounted) -> list[str]:
    wrong: list[str] = []
    where = (COMPANY, log.conversation)
    messages: list[tuple[int, str]] = []
    page = await memory.inbox.messages(*where, 3, None)
    messages += [(item.seq, item.id) for item in page.items]
    while page.next is not None:
        page = await memory.inbox.messages(*where, 3, page.next)
        messages += [(item.seq, item.id) for item in page.items]
    if messages != log.messages:
        wrong.append(f"holds the messages {messages}, and the log {log.messages}")
    if not log.facts:
        # Of a plan in which nobody gets a word in there is nothing more to hold.
        return wrong
    facts = await memory.histories.after(*where, 0, log.facts[-1], 1000)
    if [fact.seq for fact in facts.facts] != log.facts:
        wrong.append(f"holds the facts {[fact.seq for fact in facts.facts]}, and the log {log.facts}")
    recent = await memory.histories.newest(*where, log.facts[-1], 50, exact=True)
    if [message.seq for message in recent.messages] != [seq for seq, _ in log.messages][-50:]:
        wrong.append(f"tells the history {[message.seq for message in recent.messages]}, and the log {log.messages}")
    for seq, name in log.messages:
        found = await memory.inbox.message(*where, name)
        if found is None or found.seq != seq:
            wrong.append(f"finds {name} at {found and found.seq}, and it is at {seq}")
    row = await memory.inbox.get(*where)
    if row is None:
        return [*wrong, f"has no row of {log.conversation}"]
    shown = (row.state, str(row.owner.kind), row.last_message and row.last_message.seq, row.message_count)
    newest = log.messages[-1][0] if log.messages else None
    counted = (log.state, str(log.owner["kind"]), newest, len(log.messages))
    if shown != counted:
        wrong.append(f"shows {shown} in the inbox, and the log says {counted}")
    return wrong
