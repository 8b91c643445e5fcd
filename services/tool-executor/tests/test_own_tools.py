"""Tools that a company declares itself: HTTP and MCP, under the catalogue's rules, whatever their servers do."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from nats.aio.client import Client
from redis.asyncio import Redis

from contracts.company import ToolConfig
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, ToolCode
from contracts.events.chat import ActionState
from contracts.market_rpc import ActionDecideRequest
from contracts.memory_rpc import UserRef
from contracts.own_tools import Header, OwnTools
from runtime.errors import RpcError
from runtime.testing.servers import ValkeyServer
from tool_executor import own_actions
from tool_executor.testing.harness import Someone, answering
from tool_executor.testing.own import (
    SCHEMA,
    SEAL,
    break_off,
    company,
    declared,
    drip,
    hang,
    json_page,
    mcp_server,
    nested,
    redirect,
)


async def test_an_http_tool_is_called_under_the_catalogues_rules(nats_client: Client, valkey_server: ValkeyServer):
    secret = Header(name="X-Api-Key", value=SEAL.close("s3cret", "acme"))

    def own(origin: str) -> OwnTools:
        body = {**SCHEMA, "properties": {**SCHEMA["properties"], "note": {"type": "string", "default": "none"}}}  # type: ignore[dict-item]
        return OwnTools(
            http=[
                declared(origin, headers=[secret.to_wire()]),
                declared(
                    origin,
                    "send_back",
                    url=f"{origin}/back",
                    method="POST",
                    inputSchema=body,
                    sideEffects=True,
                    confirmation=False,
                ),
            ]
        )

    async with company(nats_client, valkey_server, own) as acme:
        acme.site.pages["/orders/A 1"] = json_page({"state": "sent"})
        bodies: list[Any] = []

        async def take(request: web.BaseRequest) -> web.StreamResponse:
            bodies.append(await request.json())
            return web.json_response({"done": True})

        acme.site.pages["/back"] = take
        found = await acme.call("order_status", {"order": "A 1"}, call_id="one")
        assert found.result.data == {"result": {"state": "sent"}}
        assert found.result.metadata.foreign
        asked = acme.site.asked[0]
        assert asked.rel_url.raw_path == "/orders/A%201"
        told = {
            name: asked.headers.get(name)
            for name in ("X-Api-Key", "Nexus-User", "Idempotency-Key", "Nexus-Conversation")
        }
        assert told == {
            "X-Api-Key": "s3cret", "Nexus-User": "ana", "Idempotency-Key": "one", "Nexus-Conversation": "c1",
        }  # fmt: skip
        assert "s3cret" not in found.to_json().decode()
        # Recorded like any call: the server is not asked again.
        assert (await acme.call("order_status", {"order": "A 1"}, call_id="one", attempt=2)).result == found.result
        assert len(acme.site.asked) == 1

        sent = await acme.call("send_back", {"order": "B"})
        assert sent.result.data == {"result": {"done": True}}
        assert bodies == [{"order": "B", "note": "none"}]
        assert await acme.code("send_back", {}) == (ToolCode.VALIDATION_ERROR, None)
        # Neither a slash nor dots leave their place in the address.
        for order in ("..", "", "x" * 600):
            assert (await acme.code("order_status", {"order": order}))[0] == ToolCode.VALIDATION_ERROR
        assert await acme.code("order_status", {"order": "../admin?x=1"}) == (ToolCode.EXECUTION_ERROR, "bad_status")
        assert acme.site.asked[-1].rel_url.raw_path == "/orders/..%2Fadmin%3Fx%3D1"
        # Another company's, and a visitor whose company lists it not: there is no such tool.
        other = Someone(sub="bob", company="other")
        assert (await acme.code("order_status", {"order": "A"}, other))[0] == ToolCode.TOOL_NOT_FOUND
        visitor = Someone(sub="v", role="visitor", company="acme")
        assert (await acme.code("order_status", {"order": "A"}, visitor))[0] == ToolCode.TOOL_NOT_FOUND


async def test_what_has_effects_waits_for_a_yes_and_is_done_once(
    nats_client: Client, valkey_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
):
    def own(origin: str) -> OwnTools:
        more: dict[str, Any] = {"method": "POST", "sideEffects": True, "timeoutSeconds": 1}
        return OwnTools(http=[declared(origin, "cancel_order", **more)])

    async with company(nats_client, valkey_server, own) as acme:
        acme.site.pages["/orders/A"] = json_page("cancelled")
        acme.site.pages["/orders/hang"] = hang
        facts = await nats_client.subscribe("action.decided.v1.acme.ana")  # pyright: ignore[reportUnknownMemberType]

        async def decide(action: str, decision: str = "confirm", user: str = "ana", **more: Any) -> Any:
            said = {"companyId": "acme", "userId": user, "actionId": action, "decision": decision, "language": "en"}
            return (await acme.actions.decide(ActionDecideRequest.model_validate(said | more))).action

        asked = await acme.call("cancel_order", {"order": "A"}, call_id="one")
        waiting = asked.result.data
        assert waiting is not None
        assert (waiting["status"], waiting["summary"]) == ("pending_confirmation", "cancel_order (order: A)")
        assert not asked.result.metadata.foreign
        assert acme.site.asked == []
        who = UserRef(company_id="acme", user_id="ana")
        assert [action.id for action in (await acme.actions.pending(who)).actions] == [waiting["action_id"]]
        with pytest.raises(RpcError) as stranger:
            await decide(waiting["action_id"], user="bob")
        assert stranger.value.code == ErrorCode.NOT_FOUND
        # A yes to other values than those that were shown is none.
        with pytest.raises(RpcError, match="order: cannot be changed here"):
            await decide(waiting["action_id"], edits={"order": "B"})
        assert acme.site.asked == []

        results = await asyncio.gather(*(decide(waiting["action_id"]) for _ in range(4)), return_exceptions=True)
        done = [result for result in results if not isinstance(result, BaseException)]
        assert {one.state for one in done} == {ActionState.CONFIRMED}
        assert done[0].details["outcome"] == "cancelled"
        assert len(acme.site.asked) == 1
        assert acme.site.asked[0].headers["Idempotency-Key"] == waiting["action_id"]
        told = await facts.next_msg(timeout=10)
        assert b'"state":"confirmed"' in told.data
        # The first decision stands; and what was called is not held again.
        assert (await decide(waiting["action_id"], "reject")).state == ActionState.CONFIRMED
        assert (await acme.call("cancel_order", {"order": "A"}, call_id="one", attempt=2)).result.data == waiting

        async def held(order: str) -> str:
            data = (await acme.call("cancel_order", {"order": order})).result.data
            return str(data and data["action_id"])

        # Its fields in words, not JSON: a customer reads it.
        acme.site.pages["/orders/B"] = json_page({"status": "done", "refund": 2.5, "open": False, "lines": [1, 2]})
        in_words = (await decide(await held("B"))).details["outcome"]
        assert in_words == "status: done, refund: 2.5, open: false, lines: [1, 2]"
        acme.site.asked.pop()

        refused = await decide(await held("A"), "reject")
        assert (refused.state, len(acme.site.asked)) == (ActionState.REJECTED, 1)
        unknown = await decide(await held("hang"))
        assert (unknown.state, unknown.details["reason"]) == (ActionState.FAILED, OUTCOME_UNKNOWN)
        # Whose executor died in the middle is given up, also if it was of a release that tells no time of decision.
        left = await held("A")
        redis: Any = Redis.from_url(valkey_server.url)  # pyright: ignore[reportUnknownMemberType]
        stored = json.loads(await redis.hget("tool:action:acme:ana", left))
        stored |= {"state": "running", "begunAt": "2026-01-01T00:00:00Z"}
        await redis.hset("tool:action:acme:ana", left, json.dumps(stored))
        await redis.aclose()
        assert (await decide(left)).details["reason"] == OUTCOME_UNKNOWN
        # A tool that is another by now is not what was shown.
        changed = await held("A")
        other = declared(str(acme.site.origin), "cancel_order", method="DELETE", sideEffects=True)
        acme.learn(OwnTools(http=[other]))
        late = await decide(changed)
        assert (late.state, late.details["reason"]) == (ActionState.FAILED, "changed")
        # A yes that comes too late does nothing, and says so again when it is repeated.
        asked_before = len(acme.site.asked)
        monkeypatch.setattr(own_actions, "CONFIRMATION_TIME", timedelta(0))
        overdue = await held("A")
        expired = [await decide(overdue) for _ in range(2)]
        assert [one.state for one in expired] == [ActionState.EXPIRED] * 2
        assert [one.details["decidedAt"] for one in expired] == [one.expires_at for one in expired]
        assert (await acme.actions.pending(who)).actions == []
        assert len(acme.site.asked) == asked_before
        # Nobody says yes for a visitor: they have no such tool.
        visitor = Someone(sub="v", role="visitor", company="acme")
        acme.memory.configs["acme"] = ToolConfig(enabled_tools=["cancel_order"])
        assert (await acme.code("cancel_order", {"order": "A"}, visitor))[0] == ToolCode.TOOL_NOT_FOUND


async def test_a_hostile_or_slow_server_costs_a_clear_error_and_nothing_else(
    nats_client: Client, valkey_server: ValkeyServer
):
    def own(origin: str) -> OwnTools:
        return OwnTools(
            http=[
                declared(origin, timeoutSeconds=1),
                declared(origin, "change", method="POST", sideEffects=True, confirmation=False, timeoutSeconds=1),
                declared("http://127.0.0.1:1", "nowhere"),
                declared("https://127.0.0.1.nip.example", "no_name"),
                declared("https://[::ffff:169.254.169.254]", "metadata"),
                declared(origin, "lost", headers=[{"name": "X-Key", "value": SEAL.close("x", "other")}]),
            ]
        )

    async with company(nats_client, valkey_server, own) as acme:
        pages = {
            "hang": (hang, ToolCode.TIMEOUT, None),
            "drip": (drip, ToolCode.EXECUTION_ERROR, "too_large"),
            "large": (answering(b"x" * 40_000, "text/plain"), ToolCode.EXECUTION_ERROR, "too_large"),
            "bomb": (
                answering(b"x", "text/plain", encoding="gzip"),
                ToolCode.EXECUTION_ERROR,
                "bad_encoding",
            ),
            "deep": (answering(nested(200), "application/json"), ToolCode.EXECUTION_ERROR, "bad_result"),
            "broken": (answering(b"{", "application/json"), ToolCode.EXECUTION_ERROR, "bad_result"),
            "image": (answering(b"x", "image/png"), ToolCode.EXECUTION_ERROR, "not_text"),
            "moved": (redirect, ToolCode.EXECUTION_ERROR, "redirect_refused"),
            "broken_off": (break_off, ToolCode.EXECUTION_ERROR, "unreachable"),
            "angry": (json_page("no", status=500), ToolCode.EXECUTION_ERROR, "bad_status"),
        }
        for name, (page, _, _) in pages.items():
            acme.site.pages[f"/orders/{name}"] = page
        found = await asyncio.gather(*(acme.code("order_status", {"order": name}) for name in pages))
        assert dict(zip(pages, found, strict=True)) == {name: (code, why) for name, (_, code, why) in pages.items()}
        # What has effects may have had them: it is said so, and nobody does it twice.
        for name in ("hang", "broken_off"):
            before = len(acme.site.asked)
            assert await acme.code("change", {"order": name}, call_id=name) == (ToolCode.TIMEOUT, OUTCOME_UNKNOWN)
            again = await acme.code("change", {"order": name}, call_id=name, attempt=2)
            assert again == (ToolCode.UNKNOWN_OUTCOME, OUTCOME_UNKNOWN)
            assert len(acme.site.asked) == before + 1
        whys = {
            "nowhere": "unreachable", "no_name": "unreachable", "metadata": "address_refused", "lost": "secret_lost",
        }  # fmt: skip
        for name, why in whys.items():
            assert await acme.code(name, {"order": "A"}) == (ToolCode.EXECUTION_ERROR, why), name


async def test_off_one_machine_no_tool_reaches_it(nats_client: Client, valkey_server: ValkeyServer):
    def own(origin: str) -> OwnTools:
        return OwnTools(http=[declared(origin)], mcp=[mcp_server(f"{origin}/mcp", ["find"])])

    async with company(nats_client, valkey_server, own, loopback=False) as acme:
        acme.site.pages["/orders/A"] = json_page({})
        assert await acme.code("order_status", {"order": "A"}) == (ToolCode.EXECUTION_ERROR, "address_refused")
        assert await acme.code("crm_find", {}) == (ToolCode.EXECUTION_ERROR, "address_refused")
        assert acme.site.asked == []


async def test_one_companys_slow_server_leaves_places_for_others(nats_client: Client, valkey_server: ValkeyServer):
    def own(origin: str) -> OwnTools:
        return OwnTools(http=[declared(origin, timeoutSeconds=8)])

    async with company(nats_client, valkey_server, own) as acme:
        acme.memory.own["other"] = acme.memory.own["acme"]
        acme.site.pages["/orders/hang"] = hang
        acme.site.pages["/orders/A"] = json_page({"ok": 1})
        for number in range(60):
            await acme.asker.send(
                "order_status", {"order": "hang"}, Someone(sub=f"u{number}", company="acme"), category="own"
            )
        other = Someone(sub="bob", company="other")
        async with asyncio.timeout(6):
            assert (await acme.call("order_status", {"order": "A"}, other)).result.success


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"inputSchema": {"type": "array"}}, "object"),
        ({"inputSchema": {**SCHEMA, "additionalProperties": True}}, "additionalProperties"),
        ({"inputSchema": {**SCHEMA, "description": "x" * 20_000}}, "bytes"),
        ({"inputSchema": {"type": "object"}}, "required argument"),
        ({"url": "http://shop.example/{order}"}, "https"),
        ({"url": "https://{order}.example/"}, "behind the host"),
        ({"url": "https://shop.example/{order"}, "braces"),
        ({"name": "Order Status"}, "lower-case letters"),
        ({"headers": [{"name": "Host", "value": "x"}]}, "cannot be set"),
        ({"headers": [{"name": "X", "value": "a\r\nHost: b"}]}, "printable"),
        ({"timeoutSeconds": 31}, "30"),
    ],
)
def test_what_no_tool_can_be_is_refused_in_words(fields: dict[str, Any], says: str) -> None:
    from contracts.company import faults

    tool = {"name": "order_status", "description": "x", "inputSchema": SCHEMA, "url": "https://shop.example/{order}"}
    found = faults({"companyId": "acme", "ownTools": {"http": [tool | fields]}})
    assert says in "; ".join(f"{one.field}: {one.message}" for one in found), found
