"""A Chatwoot of our own: it sends its agent bot what a real one sends, signed alike, and checks every call of its API.

The payloads have the form of Chatwoot 4's: webhook_data of a message, and of a conversation.
"""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from runtime.testing.servers import eventually

Json = dict[str, Any]
TOKEN, SECRET = "token-of-the-bot", "secret of the webhook"
ACCOUNT, INBOX, BOT = 3, 7, 5
DEADLINE = 40.0


@dataclass
class Chatwoot:
    """One inbox with an agent bot. `wrong`: calls that a real one would have refused."""

    http: aiohttp.ClientSession
    url: str = ""
    webhook: str = ""
    echoing: bool = True
    said: list[Json] = field(default_factory=list[Json])
    """Messages of the bot's, as they came."""
    statuses: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    wrong: list[str] = field(default_factory=list[str])
    answered_in: list[float] = field(default_factory=list[float])
    status: dict[int, str] = field(default_factory=dict[int, str])
    on_message: Callable[[], None] = lambda: None
    """Called when a message has been taken, before the bot hears of it."""
    _ids: int = 1000
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _echoes: set[asyncio.Task[Any]] = field(default_factory=lambda: set[asyncio.Task[Any]]())

    @property
    def settings(self) -> Json:
        """As a channel of the company's settings."""
        return {"address": self.url, "account": ACCOUNT, "inbox": INBOX, "token": TOKEN, "secret": SECRET}

    # ---------------------------------------------------------------- what it sends

    def conversation(self, number: int, **more: Any) -> Json:
        told: Json = {
            "additional_attributes": {"browser_language": "en", "referer": "https://acme.example/"},
            "can_reply": True,
            "channel": "Channel::WebWidget",
            "contact_inbox": {"id": number, "contact_id": number, "inbox_id": INBOX, "source_id": f"s{number}"},
            "id": number,
            "inbox_id": INBOX,
            "messages": [],
            "labels": [],
            "meta": {
                "sender": {"id": 100 + number, "name": "Ana", "email": None, "type": "contact"},
                "assignee": None,
                "assignee_type": None,
                "team": None,
                "hmac_verified": False,
            },
            "status": self.status.get(number, "pending"),
            "unread_count": 1,
            "timestamp": int(time.time()),
            "created_at": int(time.time()),
            "updated_at": time.time(),
        }
        return told | more

    def message(self, number: int, content: str | None, **more: Any) -> Json:
        """Returns an event message_created, by default of a message from the contact."""
        self._ids += 1
        return {
            "account": {"id": ACCOUNT, "name": "Acme"},
            "additional_attributes": {},
            "content_attributes": {},
            "content_type": "text",
            "content": content,
            "conversation": self.conversation(number),
            "created_at": "2026-11-22T14:20:00.000Z",
            "id": self._ids,
            "inbox": {"id": INBOX, "name": "Website"},
            "message_type": "incoming",
            "private": False,
            "sender": {"id": 100 + number, "name": "Ana", "type": "contact"},
            "source_id": None,
            "event": "message_created",
        } | more

    def changed(self, number: int, status: str, assignee: Json | None = None) -> Json:
        """conversation_status_changed."""
        before = self.status.get(number, "pending")
        self.status[number] = status
        payload = self.conversation(number, status=status)
        payload["meta"]["assignee"] = assignee
        changes = [{"status": {"previous_value": before, "current_value": status}}]
        return payload | {"event": "conversation_status_changed", "changed_attributes": changes}

    async def send(self, event: Json, *, secret: str = SECRET, at: int | None = None) -> int:
        """Sends the event to the bot; returns the status of its answer."""
        body = json.dumps(event).encode()
        moment = str(at or int(time.time()))
        signature = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Chatwoot-Signature": f"sha256={signature}",
            "X-Chatwoot-Timestamp": moment,
            "X-Chatwoot-Delivery": f"d-{event.get('id')}",
        }
        begun = time.monotonic()
        async with self.http.post(self.webhook, data=body, headers=headers) as answer:
            await answer.read()
            self.answered_in.append(time.monotonic() - begun)
            return answer.status

    # ---------------------------------------------------------------- what it is asked

    async def until(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE), self._news:
            await self._news.wait_for(wanted)

    def texts(self, number: int) -> list[str]:
        """Returns the texts the bot sent to a conversation."""
        return [message["content"] for message in self.said if message["number"] == number]

    async def take_message(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        body = await request.json()
        expected = {"content", "message_type", "private", "content_type", "content_attributes"}
        is_valid = body.keys() == expected and body["message_type"] == "outgoing" and body["private"] is False
        if not is_valid or not isinstance(body["content"], str) or not body["content"]:
            self.wrong.append(f"message {body}")
            return web.json_response({"error": "Content can't be blank"}, status=422)
        number = int(request.match_info["number"])
        self.said.append(body | {"number": number})
        self.on_message()
        if self.echoing:
            sender = {"id": BOT, "name": "Nexus", "type": "agent_bot"}
            attributes = body["content_attributes"]
            echo = self.message(
                number, body["content"], message_type="outgoing", sender=sender, content_attributes=attributes
            )
            task = asyncio.create_task(self._echo(echo))
            self._echoes.add(task)
            task.add_done_callback(self._echoes.discard)
        async with self._news:
            self._news.notify_all()
        return web.json_response({"id": self._ids, "content": body["content"]})

    async def take_status(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        number, status = int(request.match_info["number"]), (await request.json()).get("status")
        if status not in {"open", "pending"}:
            self.wrong.append(f"status {status}")
            return web.json_response({"error": "invalid status"}, status=422)
        self.statuses.append((number, status))
        self.status[number] = status
        async with self._news:
            self._news.notify_all()
        return web.json_response({"payload": {"success": True, "current_status": status, "conversation_id": number}})

    async def refuse_bots(self, request: web.Request) -> web.Response:
        """Refuses a request that bots may not make."""
        if request.headers.get("api_access_token") != TOKEN:
            return web.json_response({"error": "Invalid Access Token"}, status=401)
        return web.json_response({"error": "Access to this endpoint is not authorized for bots"}, status=401)

    def _refused(self, request: web.Request) -> web.Response | None:
        if request.headers.get("api_access_token") != TOKEN:
            return web.json_response({"error": "Invalid Access Token"}, status=401)
        if request.content_type != "application/json" or request.match_info["account"] != str(ACCOUNT):
            self.wrong.append(f"{request.method} {request.path} {request.content_type}")
            return web.json_response({"error": "Resource could not be found"}, status=404)
        return None

    async def _echo(self, event: Json) -> None:
        """Sends the event repeatedly until the bot accepts it."""

        async def is_accepted() -> bool:
            with suppress(aiohttp.ClientError):
                return await self.send(event) == 200
            return False

        await eventually(is_accepted)


@asynccontextmanager
async def chatwoot() -> AsyncGenerator[Chatwoot]:
    """A Chatwoot on a free port, for the length of the block; it has refused nothing that was asked of it."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=DEADLINE)) as session:
        played = Chatwoot(session)
        app = web.Application()
        place = "/api/v1/accounts/{account}/conversations/{number}"
        app.router.add_post(f"{place}/messages", played.take_message)
        app.router.add_get(f"{place}/messages", played.refuse_bots)
        app.router.add_post(f"{place}/toggle_status", played.take_status)
        app.router.add_get("/api/v1/profile", played.refuse_bots)
        runner = web.AppRunner(app, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        played.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield played
            assert played.wrong == []
        finally:
            await runner.cleanup()
