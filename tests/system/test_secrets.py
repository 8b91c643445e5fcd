"""No key, password or token in anything that a whole run writes: logs, streams, databases, metrics, error bodies.

Meant to be where they are, and nowhere else: principals in the streams CHAT and TOOLS and in dead letters of theirs (a
signature with an end, by which the one who acts knows for whom), and the secrets of webhooks and identity keys in
memory's own collection. What a model says is content: a call must be made, journalled and replayed as it was asked for;
whoever tells of it masks it.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support import raw_scan
from tests.support.chat_client import ChatClient
from tests.support.running_stack import JWT_SECRET, RunningStack

KEYS = {
    "GROQ_API_KEY": "gsk_" + "Pq7RtY2uVw9xZa4bCd6eFg8h",
    "OPENAI_API_KEY": "sk-proj-" + "Mn3bVc5xZl7kJh9gFd1sAq",
    "ANTHROPIC_API_KEY": "sk-ant-" + "Kj8hGf6dSa4pOi2uYt0rEw",
    "NEXUS_PRINCIPAL_KEY": "the-key-that-signs-principals-in-this-test",
}
WEBHOOK, IDENTITY = "whsec_c2VjcmV0LW9mLXRoaXMtdGVzdC1hbG9uZQ", "an identity key of more than 32 letters"
PASTED = "sk-live-Zx9cVb7nMa5sDf3gHj1k"
"""A key of somebody's that a model puts into a tool's arguments."""
JWS = re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")
COMPANY = "discreet"
PRINCIPALS = ("stream CHAT", "stream TOOLS", "stream DLQ")
CONTENT = ("stream TURNS", "stream TOOLS", "stream FACTS turns.recorded")


@pytest.fixture
def seen() -> list[str]:
    """HTTP bodies that are no new token."""
    return []


async def test_nothing_that_a_run_writes_holds_a_secret(tmp_path: Path, seen: list[str]) -> None:
    call = ScriptedCall(name="explain_concept", arguments={"concept": f"what is {PASTED}"})
    rules = [
        Rule(match="quote", replies=[ScriptedReply(tool_calls=[call]), ScriptedReply(text="Prices move.")]),
        Rule(match="refused", replies=[ScriptedReply(status=401, error_code="invalid_api_key")], again=True),
    ]
    async with (
        scripted_model(*rules, default=ScriptedReply(text="Gladly.")) as model,
        aiohttp.ClientSession() as session,
    ):
        bases = {f"NEXUS_LLM_{name}_BASE_URL": model.base_url for name in ("GROQ", "OPENAI", "ANTHROPIC")}
        async with RunningStack(tmp_path, {**KEYS, **bases, "NEXUS_LOG_LEVEL": "debug"}) as stack:
            tokens = await _story(stack, Http(stack.url, session), seen)
            passwords = list(json.loads((tmp_path / "bus.json").read_text()).values())
            secrets = [*KEYS.values(), WEBHOOK, IDENTITY, PASTED, JWT_SECRET, *passwords, *tokens]
            found = {f"HTTP body {number}": body for number, body in enumerate(seen)}
            found |= await raw_scan.databases(stack)
            found |= await raw_scan.streams(stack)
            found |= await _metrics(stack, session)
        found |= {f"log {file.name}": file.read_text(errors="replace") for file in (tmp_path / "logs").iterdir()}
    # It looked where there is something to see.
    assert any("Prices move." in text for text in found.values())
    assert {"log agent.log", "stream FACTS tools.call.completed", "mongo companies", "HTTP body 0"} <= found.keys()
    assert "***" in found["stream FACTS tools.call.completed"]
    leaks = "\n".join(_leaks(found, secrets))
    assert not leaks, leaks


async def _story(stack: RunningStack, http: Http, seen: list[str]) -> list[str]:
    """A day of a company's: settings, chats, tools, help, mistakes. Returns every token that was used."""
    admin, agent = stack.mint("admin", "root", COMPANY), stack.mint("commercial", "op1", COMPANY)
    service, forged = stack.mint("service", "shop", COMPANY), stack.mint("user", "eve", COMPANY)[:-3] + "abc"
    hooks = [{"url": "http://127.0.0.1:1/hook", "secret": WEBHOOK}]
    keys = [{"id": "k", "algorithm": "HS256", "key": IDENTITY}]
    config = {"companyId": COMPANY, "aiAutoResponseEnabled": True, "responseDelayMs": 0, "webhooks": hooks}
    config |= {"identity": {"keys": keys}, "toolConfig": {"enabledTools": ["explain_concept"]}}

    async def call(method: str, path: str, token: str, wanted: int, **options: Any) -> Any:
        status, body, headers = await http(method, path, token=token, **options)
        assert status == wanted, body
        seen.append(f"{body} {headers}")
        return body

    await call("POST", "/v2/llm/config", admin, 201, json=config)
    await call("POST", "/v2/llm/config", admin, 409, json=config)
    await call("PATCH", f"/v2/llm/config/{COMPANY}", admin, 422, json={"temperature": 9}, headers={"If-Match": "*"})
    bad_hook = {"webhooks": [{"url": "nowhere", "secret": WEBHOOK}]}
    await call("PATCH", f"/v2/llm/config/{COMPANY}", admin, 422, json=bad_hook, headers={"If-Match": "*"})
    await call("GET", f"/v2/llm/config/{COMPANY}", admin, 200)
    await call("GET", "/v2/usage", forged, 401)
    claims = {"sub": "ana-7", "aud": COMPANY, "exp": int(time.time()) + 600}
    identity, other = jwt.encode(claims, IDENTITY), jwt.encode({**claims, "aud": "other"}, IDENTITY)
    await call("POST", "/v2/visitors", "", 401, json={"companyId": COMPANY, "identity": other})
    known, _ = await stack.visitor(COMPANY, identity=identity)
    visitor, _ = await stack.visitor(COMPANY, locale="en")
    _, made, _ = await http("POST", "/v2/principals", token=service, json={})
    for token, texts in ((visitor, ["a quote, please", "refused"]), (known, ["hello", "a quote, please"])):
        async with stack.chat(token, locale="en") as chat:
            for text in texts:
                await chat.ask(text, 40)
            seen.append(json.dumps(chat.frames))
            help_asked = {"conversationId": chat.conversation}
            status, help_given, _ = await http("POST", "/v2/llm/suggestions", token=agent, json=help_asked)
            assert status in (200, 503)
            seen.append(str(help_given))
            await call("GET", f"/v2/conversations/{chat.conversation}/messages", agent, 200)
    async with ChatClient(stack.url, forged) as stranger:
        await stranger.send_frame("hello", token=forged)
        await stranger.wait_closed()
        seen.append(json.dumps(stranger.frames))
    arguments = {"arguments": {"concept": PASTED}}
    await http("POST", "/v2/tools/explain_concept", token=known, json=arguments)
    await call("GET", "/v2/memory", known, 200)
    # Principals made for services are for the bus: they are in CHAT and TOOLS, or nowhere.
    return [admin, agent, service, forged, identity, other, known, visitor, made["principal"]]


def _belongs(secret: str, place: str) -> bool:
    if secret == PASTED:
        return place.startswith(CONTENT)
    return place == "mongo companies" and secret in (WEBHOOK, IDENTITY)


def _leaks(found: Mapping[str, str], secrets: list[str]) -> Iterator[str]:
    for place, text in found.items():
        for secret in secrets:
            if secret in text and not _belongs(secret, place):
                at = text.index(secret)
                yield f"{place}: {text[max(at - 120, 0) : at + 12]}…"
        if not place.startswith(PRINCIPALS) and (token := JWS.search(text)):
            yield f"{place}: a token, {text[max(token.start() - 80, 0) : token.start() + 12]}…"


async def _metrics(stack: RunningStack, session: aiohttp.ClientSession) -> dict[str, str]:
    texts: dict[str, str] = {}
    for process in stack.facts()["processes"]:
        if process["url"].startswith("http"):
            async with session.get(f"{process['url']}/metrics") as answer:
                texts[f"metrics {process['name']}"] = await answer.text()

    async def told() -> bool:
        return "nexus_memory_webhooks_total" in texts["metrics memory"]

    await eventually(told)
    return texts
