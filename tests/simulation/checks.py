"""What must hold when everything has come to rest, whatever went wrong before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import orjson

from contracts.channels import ChatKind, parse_chat
from tests.simulation.model import ORDER, PLACED
from tests.simulation.people import SocketClient
from tests.simulation.streams import SimulatedStream

_SETTLES = (ChatKind.ASSISTANT, ChatKind.SYSTEM, ChatKind.CANCEL)


def of_log(stream: SimulatedStream, beside_human: bool) -> list[str]:
    """Each visitor message is settled, no answer is doubled, none is said over a person."""
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
            if messages[data["messageId"]] > 1:
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
    """No order is placed twice, and what is said to be placed is."""
    done = [json.loads(arguments) for _, arguments in effects]
    orders = Counter(one["what"] for one in done if one["what"].startswith(ORDER))
    wrong = [f"{count} effects of {what}" for what, count in orders.items() if count > 1]
    placed = {one["how"] for one in done}
    for stored in stream.log:
        if stored.subject.endswith(ChatKind.ASSISTANT.value):
            how = orjson.loads(stored.data)["data"]["text"].partition(PLACED)[2]
            if how and how not in placed:
                wrong.append(f"{stored.seq}: says {PLACED}{how}, and it is not")
    return wrong


def of_journals(stream: SimulatedStream) -> list[str]:
    """A turn's journal forgets no call, and changes none."""
    wrong: list[str] = []
    before: dict[str, tuple[str, dict[str, Any]]] = {}
    for stored in stream.log:
        data = orjson.loads(stored.data)["data"]
        if "turnId" in data:
            calls = {one["callId"]: one["arguments"] for one in data["calls"]}
            turn, known = before.get(stored.subject, ("", {}))
            if turn == data["turnId"] and any(calls.get(name) != arguments for name, arguments in known.items()):
                wrong.append(f"TURNS {stored.seq}: a journal has lost a call")
            before[stored.subject] = data["turnId"], calls
    return wrong


def of_client(client: SocketClient, stream: SimulatedStream) -> list[str]:
    """Each durable fact once and in order; each message that was written is in the log, where it was said to be."""
    wrong = list(client.faults)
    tree = f"chat.demo.{client.conversation}."
    log = {one.seq: one for one in stream.log if one.subject.startswith(tree)}
    missing = client.behind(stream)
    if missing:
        wrong.append(f"{client.name}: was never told {missing}")
    for identity, text in client.texts.items():
        stored = log.get(client.acknowledged.get(identity, 0))
        if stored is None:
            wrong.append(f"{client.name}: {text!r} is lost")
        elif orjson.loads(stored.data)["data"]["text"] != text:
            wrong.append(f"{client.name}: {text!r} is not what {stored.seq} says")
    return wrong
