"""For tests of doors: an agent that answers every message over a real bus, and checks that several tests share."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import LIVE_CHAT_ALL, LiveTurnKind
from contracts.conversation import Snapshot
from contracts.events.chat import Action
from gateway.testing.harness import AgentStandIn
from runtime.background import start_task
from runtime.bus.connection import subscribe
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually


class DoorDesk:
    """A customer's conversation behind a door, and the agent that answers in it."""

    def __init__(self, client: Client, conversation: str) -> None:
        self.client = client
        self.conversation = conversation
        self.agent = AgentStandIn(client, "acme", conversation)

    async def snapshot(self) -> Snapshot:
        return await ConversationLog(self.client).snapshot("acme", self.conversation)

    async def asked(self, previous: int = 0) -> int:
        """Waits for the client's message, newer than `previous`, and returns its sequence."""

        async def newest() -> int:
            seq = (await self.snapshot()).newest_visitor
            return seq if seq > previous else 0

        return await eventually(newest)


def order(identity: str = "a1", state: str = "pending", **fields: object) -> Action:
    """A paper order that waits for a yes."""
    return Action.model_validate(
        {"id": identity, "kind": "paper_order", "state": state, "summary": "Buy 1 AAPL", **fields}
    )


REQUIRED_OF_A_RESPONSE = frozenset(
    (
        *("id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "user", "usage"),
        *("previous_response_id", "instructions", "output", "error", "tools", "tool_choice", "truncation", "text"),
        *("parallel_tool_calls", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs", "temperature"),
        *("reasoning", "store", "max_output_tokens", "max_tool_calls", "background", "service_tier", "metadata"),
        *("safety_identifier", "prompt_cache_key"),
    )
)
"""The required fields of a response in the schema of the Open Responses specification."""


def kill_moments(default: int, maximum: int) -> list[int]:
    """Numbers of characters of an answer after which the gateway is killed: `default`, or NEXUS_KILLS random ones up to
    `maximum` (`make kill-doors`)."""
    kills = int(os.environ.get("NEXUS_KILLS", "0"))
    return [random.randint(1, maximum) for _ in range(kills)] if kills else [default]


Answering = Callable[["AnsweringAgent", AgentStandIn, int, str], Awaitable[None]]


async def no_answer(agent: "AnsweringAgent", turn: AgentStandIn, basis: int, text: str) -> None:
    """Does nothing: the client keeps waiting."""
    del agent, turn, basis, text


async def in_two_pieces(agent: "AnsweringAgent", turn: AgentStandIn, basis: int, text: str) -> None:
    """Publishes a tool call, the text in two deltas, then the answer."""
    del text
    await turn.live(LiveTurnKind.TOOL_STARTED, callId=f"{turn.turn}-0-0", tool="get_price", label="Looking")
    await turn.live(LiveTurnKind.TOOL_FINISHED, callId=f"{turn.turn}-0-0", tool="get_price", success=True)
    half = len(agent.text) // 2
    await turn.delta(0, agent.text[:half])
    await turn.delta(1, agent.text[half:])
    await turn.answer(basis, agent.text, *agent.actions)
    await turn.live(LiveTurnKind.RUN_FINISHED, usage={"promptTokens": 7, "completionTokens": 2})


@dataclass
class AnsweringAgent:
    """Answers every visitor message in every conversation with `answering`, and records them in `received_messages`."""

    client: Client
    text: str = "One two."
    actions: list[Action] = field(default_factory=list[Action])
    answering: Answering = in_two_pieces
    received_messages: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(conversation, text) of each message."""
    wishes: list[object] = field(default_factory=list[object])
    turns: dict[str, AgentStandIn] = field(default_factory=dict[str, AgentStandIn])
    running: set[asyncio.Task[None]] = field(default_factory=lambda: set[asyncio.Task[None]]())

    async def start(self) -> None:
        """Starts answering."""
        await subscribe(self.client, LIVE_CHAT_ALL, self._receive)
        await self.client.flush()

    async def _receive(self, message: Msg) -> None:
        _, _, company, conversation, fact_kind = message.subject.split(".", 4)
        if not fact_kind.startswith("message.visitor"):
            return
        data = orjson.loads(message.data)["data"]
        self.received_messages.append((conversation, data["text"]))
        self.wishes.append(data.get("wishes"))
        basis = int((message.headers or {})["Nats-Sequence"])
        start_task(self._answer(company, conversation, basis, data["text"]), self.running)

    async def _answer(self, company: str, conversation: str, basis: int, text: str) -> None:
        turn = self.turns.get(conversation)
        if turn is None:
            turn = self.turns[conversation] = AgentStandIn(self.client, company, conversation)
            await turn.start()
        turn.begin(basis)
        await turn.live(LiveTurnKind.RUN_STARTED)
        await self.answering(self, turn, basis, text)
