"""For tests: a gateway over a real NATS server, a websocket client, and stand-ins for the services behind it.

The stand-in for memory answers from the log itself, so that its answers are always right. A test can stop it.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import orjson
from nats.aio.client import Client
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed

from contracts import agent_rpc, company_rpc, conversation_rpc, owner_rpc, ws
from contracts.channels import ChatKind, LiveTurnKind, chat, chat_msg_id, live_turn
from contracts.company import CompanyConfig, CompanySettings
from contracts.conversation import Fact, message_view
from contracts.envelope import Wire
from contracts.events.chat import Action, AssistantMessage, Owner
from contracts.ids import answer_id, derive_id, turn_id
from gateway.adapters.identity import IdentityKeys
from gateway.adapters.personas import DemoPersonas
from gateway.app import Gateway, compose
from gateway.doors.mcp.endpoint import ServerFactory as McpBuild
from gateway.doors.mcp.endpoint import load_server_factory
from gateway.settings import GatewaySettings
from gateway.testing.withdrawals import WithdrawalsStandIn
from gateway.web.server import WebServer
from runtime.bus.connection import ConnectionHooks, connect
from runtime.bus.publisher import Appended, Publisher, event_json
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.clock import SystemClock
from runtime.conversation import ConversationLog, facts_of
from runtime.settings import NatsSettings
from runtime.stores.file_store import FileStore

Frame = dict[str, Any]
DEADLINE = 60.0


@dataclass
class GatewayUnderTest:
    """A running gateway; `url` is http://127.0.0.1:port."""

    gateway: Gateway
    server: WebServer
    client: Client
    hooks: ConnectionHooks

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"


@asynccontextmanager
async def run_gateway(
    nats_url: str,
    identity: IdentityKeys,
    settings: GatewaySettings | None = None,
    personas: DemoPersonas | None = None,
    mcp_server: Callable[[], McpBuild] = load_server_factory,
    store: FileStore | None = None,
) -> AsyncGenerator[GatewayUnderTest]:
    """Runs a gateway on a free port with the NATS server at `nats_url`."""
    settings = settings or GatewaySettings()
    hooks = ConnectionHooks()
    client = await connect(NatsSettings(url=nats_url, ping_interval=1), name="gateway", hooks=hooks)
    await ensure_streams(client)
    gateway = compose(
        client, settings, identity, SystemClock(), [], dev=True, personas=personas, mcp_server=mcp_server, store=store
    )
    await gateway.start(hooks)
    await client.flush()
    server = WebServer(gateway.application, host="127.0.0.1", port=0, heartbeat_seconds=settings.heartbeat_seconds)
    await server.start()
    try:
        yield GatewayUnderTest(gateway, server, client, hooks)
    finally:
        await gateway.drain()
        await server.stop()
        await gateway.mcp.stop()
        await client.close()


class ChatClient:
    """A client of the websocket. `next` returns the next frame, `until` skips frames; `seen` has all of them. With a
    token `hello` it has said hello, and `welcome` is the answer."""

    def __init__(
        self, url: str, headers: dict[str, str] | None = None, *, address: str | None = None, hello: str | None = None
    ) -> None:
        self._headers = headers
        self._token = hello
        self.welcome: Frame = {}
        self._local_address = (address, 0) if address else None
        self._url = url.replace("http", "ws", 1) + "/v2/chat/ws"
        self._socket: ClientConnection | None = None
        self.seen: list[Frame] = []

    async def __aenter__(self) -> Self:
        self._socket = await open_websocket(
            self._url,
            compression=None,
            ping_interval=None,
            open_timeout=DEADLINE,
            max_size=None,
            additional_headers=self._headers,
            local_addr=self._local_address,
        )
        if self._token is not None:
            self.welcome = await self.hello(self._token)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    @property
    def socket(self) -> ClientConnection:
        """The websocket; open inside `async with`."""
        if self._socket is None:
            raise RuntimeError("use the client in an async with block")
        return self._socket

    @property
    def conversation(self) -> str:
        """The conversation of the welcome."""
        return self.welcome["conversationId"]

    async def send(self, kind: str, **fields: Any) -> None:
        """Sends a frame of the protocol."""
        await self.socket.send(json.dumps({"v": 1, "type": kind, **fields}))

    async def next(self, deadline: float = DEADLINE) -> Frame:
        """The next frame; raises ConnectionClosed when the server has closed the socket."""
        async with asyncio.timeout(deadline):
            frame = _checked(await self.socket.recv())
        self.seen.append(frame)
        return frame

    async def until(
        self, kind: str, accept: Callable[[Frame], bool] = lambda _: True, *, deadline: float = DEADLINE
    ) -> Frame:
        """Skips to the next frame of this type for which `accept` is true."""
        async with asyncio.timeout(deadline):
            while True:
                frame = await self.next(deadline)
                if frame["type"] == kind and accept(frame):
                    return frame

    async def hello(self, token: str, **fields: Any) -> Frame:
        """Sends the hello frame and returns the welcome frame."""
        await self.send("hello", token=token, **fields)
        return await self.until("welcome")

    async def say(self, text: str, **fields: Any) -> Frame:
        """Sends a message and returns its acknowledgement."""
        message_id = fields.pop("clientMessageId", None) or str(uuid.uuid4())
        await self.send("message.send", clientMessageId=message_id, text=text, **fields)
        return await self.until("message.ack", lambda frame: frame["clientMessageId"] == message_id)

    async def fact(self, seq: int, *, deadline: float = DEADLINE) -> Frame:
        """The frame of the durable fact `seq`; waits for it if it has not arrived yet."""
        fact_frame = next((frame for frame in self.seen if _seq(frame) == seq), None)
        async with asyncio.timeout(deadline):
            while fact_frame is None:
                frame = await self.next(deadline)
                fact_frame = frame if _seq(frame) == seq else None
        return fact_frame

    async def closed(self, deadline: float = DEADLINE) -> int | None:
        """Waits until the server closes the socket, and returns the close code."""
        try:
            async with asyncio.timeout(deadline):
                while True:
                    self.seen.append(_checked(await self.socket.recv()))
        except ConnectionClosed:
            return self.socket.close_code


def _checked(text: str | bytes) -> Frame:
    """Checks a frame of the gateway: it must match its model, without extra fields."""
    frame: Frame = orjson.loads(text)
    model = ws.SERVER_FRAMES[frame["type"]]
    model.model_validate(frame)
    unknown = frame.keys() - {"v", "type", "conversationId", *ws.fields_of(model)}
    if frame["v"] != ws.PROTOCOL_VERSION or unknown:
        raise AssertionError(f"{frame['type']} of version {frame['v']} has {unknown or 'no'} fields of its own")
    return frame


def _seq(frame: Frame) -> int | None:
    if frame["type"] == "message.created":
        return frame["message"]["seq"]
    return frame.get("seq") if frame["type"] in {"owner.changed", "run.cancelled"} else None


@dataclass
class MemoryStandIn:
    """Answers memory's methods, listed in `requested_methods`, from the log. Tests set `latest` and `companies`."""

    client: Client
    companies: dict[str, CompanySettings] = field(default_factory=dict[str, CompanySettings])
    latest: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    requested_methods: list[str] = field(default_factory=list[str])
    known_conversations: dict[str, conversation_rpc.ConversationView] = field(
        default_factory=dict[str, conversation_rpc.ConversationView]
    )
    archived_messages: dict[str, list[conversation_rpc.MessageView]] = field(
        default_factory=dict[str, list[conversation_rpc.MessageView]]
    )
    """Messages by conversation that are no longer in the log."""
    owner_sightings: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    read_positions: dict[tuple[str, str], int | None] = field(default_factory=dict[tuple[str, str], int | None])
    """The sequence up to which a human agent has read, by conversation and agent."""

    def __post_init__(self) -> None:
        self._log = ConversationLog(self.client)
        self._server = RpcServer(self.client)

    def add_company(self, company: str, **config: Any) -> None:
        """Adds a company with these settings (camelCase)."""
        settings = CompanyConfig.model_validate({"companyId": company, **config})
        self.companies[company] = CompanySettings(config=settings, version=1)

    async def start(self) -> None:
        """Starts answering."""
        await self._server.serve(company_rpc.COMPANY_GET, self._company)
        await self._server.serve(conversation_rpc.LATEST_CONVERSATION, self._latest)
        await self._server.serve(conversation_rpc.SNAPSHOT, self._snapshot)
        await self._server.serve(conversation_rpc.FACTS_AFTER, self._facts)
        await self._server.serve(conversation_rpc.CONVERSATION, self._conversation)
        await self._server.serve(conversation_rpc.CONVERSATIONS, self._conversations)
        await self._server.serve(conversation_rpc.CONVERSATION_MESSAGES, self._messages)
        await self._server.serve(conversation_rpc.MESSAGE_BY_ID, self._message)
        await self._server.serve(owner_rpc.OWNER_SEEN, self._owner_seen)
        await WithdrawalsStandIn().serve(self._server)
        await self.client.flush()

    async def stop(self) -> None:
        """Stops answering."""
        await self._server.drain(1.0)
        await self.client.flush()

    async def _company(self, request: company_rpc.CompanyRequest) -> company_rpc.CompanyReply:
        self.requested_methods.append("company")
        return company_rpc.CompanyReply(settings=self.companies.get(request.company_id))

    async def _owner_seen(self, request: owner_rpc.OwnerSeenRequest) -> owner_rpc.OwnerSeenReply:
        self.owner_sightings.append((request.conversation_id, request.operator_id))
        self.read_positions[request.conversation_id, request.operator_id] = request.up_to_seq
        return owner_rpc.OwnerSeenReply()

    async def _latest(
        self, request: conversation_rpc.LatestConversationRequest
    ) -> conversation_rpc.LatestConversationReply:
        self.requested_methods.append("latest")
        latest = self.latest.get((request.company_id, request.user_id))
        return conversation_rpc.LatestConversationReply(conversation_id=latest)

    async def _log_facts(self, company: str, conversation: str) -> list[Fact]:
        snapshot = await self._log.snapshot(company, conversation)
        return facts_of(await self._log.read(company, conversation, 0, snapshot.seq))

    async def _views(self, company: str, conversation: str) -> list[conversation_rpc.MessageView]:
        views = (message_view(fact) for fact in await self._log_facts(company, conversation))
        return [conversation_rpc.MessageView.model_validate(view) for view in views if view is not None]

    async def _snapshot(self, request: conversation_rpc.SnapshotRequest) -> conversation_rpc.SnapshotReply:
        self.requested_methods.append("snapshot")
        views = await self._views(request.company_id, request.conversation_id)
        views = [*self.archived_messages.get(request.conversation_id, ()), *views]
        return conversation_rpc.SnapshotReply(messages=views[-request.limit :], seq=views[-1].seq if views else 0)

    async def _facts(self, request: conversation_rpc.FactsRequest) -> conversation_rpc.FactsReply:
        self.requested_methods.append("facts")
        stored = await self._log_facts(request.company_id, request.conversation_id)
        facts = [fact for fact in stored if fact.seq > request.since]
        page = [
            conversation_rpc.FactView(seq=fact.seq, kind=fact.kind.value, event=dict(fact.event)) for fact in facts[:2]
        ]
        return conversation_rpc.FactsReply(facts=page, complete=len(facts) <= 2)

    async def _conversation(self, request: conversation_rpc.ConversationRef) -> conversation_rpc.ConversationReply:
        self.requested_methods.append("conversation")
        view = self.known_conversations.get(request.conversation_id)
        known = view if view and view.company_id == request.company_id else None
        return conversation_rpc.ConversationReply(conversation=known)

    async def _conversations(
        self, request: conversation_rpc.ConversationsRequest
    ) -> conversation_rpc.ConversationsReply:
        views = [view for view in self.known_conversations.values() if view.company_id == request.company_id]
        if request.user_id is not None:
            views = [view for view in views if view.visitor.id == request.user_id]
        return conversation_rpc.ConversationsReply(items=views)

    async def _messages(self, request: conversation_rpc.MessagesRequest) -> conversation_rpc.MessagesReply:
        views = await self._views(request.company_id, request.conversation_id)
        start = int(request.cursor or 0)
        end = start + request.limit
        return conversation_rpc.MessagesReply(items=views[start:end], next=str(end) if end < len(views) else None)

    async def _message(self, request: conversation_rpc.MessageByIdRequest) -> conversation_rpc.MessageByIdReply:
        self.requested_methods.append("message")
        views = await self._views(request.company_id, request.conversation_id)
        return conversation_rpc.MessageByIdReply(
            message=next((view for view in views if view.id == request.message_id), None)
        )


class AgentStandIn:
    """Publishes the events of an agent that drives a turn."""

    def __init__(self, client: Client, company: str, conversation: str) -> None:
        self._client = client
        self._publisher = Publisher(client)
        self._server = RpcServer(client)
        self.company = company
        self.conversation = conversation
        self.turn = ""
        self.state: agent_rpc.TurnState | None = None

    async def start(self) -> None:
        """Starts answering requests for the state of the turn."""
        await self._server.serve(agent_rpc.TURN_STATE, self._answer_state)
        await self._client.flush()

    async def _answer_state(self, request: agent_rpc.TurnStateRequest) -> agent_rpc.TurnState | None:
        return self.state if request.conversation_id == self.conversation else None

    def begin(self, basis: int) -> str:
        """Begins the turn that answers the visitor message `basis`, and returns its id."""
        self.turn = turn_id(self.company, self.conversation, basis)
        return self.turn

    async def live(self, kind: LiveTurnKind, **data: Any) -> None:
        """Publishes a live event of the turn."""
        message = {"messageId": answer_id(self.turn)} if kind is LiveTurnKind.RUN_STARTED else {}
        event = {"type": f"live.turn.{kind.value}.v1", "data": {"turnId": self.turn, **message, **data}}
        await self._publisher.publish_live(live_turn(self.company, self.conversation, kind), orjson.dumps(event))

    async def delta(self, number: int, text: str) -> None:
        """Publishes the next piece of the answer's text."""
        await self.live(LiveTurnKind.MESSAGE_DELTA, messageId=answer_id(self.turn), deltaSeq=number, delta=text)

    async def answer(self, basis: int, text: str, *actions: Action) -> Appended:
        """Appends the answer to the visitor message `basis`, with `actions` that wait for a yes."""
        turn = self.begin(basis)
        data = AssistantMessage(
            message_id=answer_id(turn),
            turn_id=turn,
            basis=basis,
            text=text,
            actions=list(actions),
            model="scripted",
            config_version=1,
        )
        return await self.append(ChatKind.ASSISTANT, data, turn)

    async def append(self, kind: ChatKind, data: Wire, identity: str) -> Appended:
        """Appends a fact to the conversation."""
        event = event_json(
            kind.event_type,
            "/nexus/agent",
            data.to_wire(),
            subject=f"{self.company}/{self.conversation}",
            identity=derive_id(self.company, self.conversation, kind.short, identity),
        )
        return await self._publisher.append(
            chat(self.company, self.conversation, kind),
            event,
            stream="CHAT",
            msg_id=chat_msg_id(self.company, self.conversation, kind, identity),
        )


def conversation_view(
    conversation: str, company: str, visitor: str, **fields: Any
) -> conversation_rpc.ConversationView:
    """A conversation as memory would return it."""
    return conversation_rpc.ConversationView.model_validate(
        {
            "id": conversation,
            "companyId": company,
            "state": "ai",
            "owner": Owner.model_validate({"kind": "ai"}),
            "visitor": {"id": visitor},
            "messageCount": 1,
            "startedAt": "2026-01-01T00:00:00Z",
            **fields,
        }
    )
