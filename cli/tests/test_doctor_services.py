"""`nexus doctor --live` at the health pages of services."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from nats.aio.client import Client
from nats.aio.msg import Msg
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from pydantic import SecretStr

from contracts.agent_rpc import IMPROVE, PROVIDERS
from nexus_cli.doctor import clocks, live, services
from nexus_cli.target import Addresses
from runtime.auth.principals import PrincipalSigner, PrincipalVerifier
from runtime.bus.connection import subscribe
from runtime.errors import InvalidTokenError
from runtime.lifecycle.health import Health, HealthServer
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer


async def test_every_service_tells_its_clock() -> None:
    server = HealthServer(Health("agent"), "127.0.0.1", 0)
    await server.start()
    ahead: dict[str, float] = {}
    url = f"http://127.0.0.1:{server.port}"
    await services.ready({"agent": [url]}, ahead.__setitem__)
    await server.stop()
    assert list(ahead) == [f"agent ({url})"]
    assert abs(ahead[f"agent ({url})"]) < clocks.MAX_OFFSET_SECONDS


async def test_a_silent_model_hides_nothing_else(nats_server: NatsServer, nats_streams: Client) -> None:
    async def answer(message: Msg) -> None:
        await message.respond(b"{}")

    async def nothing(_: Msg) -> None:
        pass

    await subscribe(nats_streams, PROVIDERS.subject, answer)
    await subscribe(nats_streams, IMPROVE.subject, nothing)
    await nats_streams.flush()
    found = await live.examine(Addresses(nats_server.url), "demo", seconds=live.CLOSE_SECONDS + 2)
    texts = {one.subject: one.text for one in found}
    assert "no answer within" in texts["model"]
    assert services.NOT_ON_BUS in texts["memory"]
    assert texts["agent"] == "answers"
    assert "it is missing" in texts["consumer agent"]


async def test_a_service_with_another_principal_key() -> None:
    ours, theirs = (TokenSettings(principal_key=SecretStr(letter * 32)) for letter in "ot")
    health, verifier = Health("tool-executor"), PrincipalVerifier(ours)
    health.add_check("principals", verifier.check)
    health.started()
    health.ready()
    with pytest.raises(InvalidTokenError):
        verifier.verify(PrincipalSigner(theirs).issue(sub="u1", role="user", company="acme"))
    server = HealthServer(health, "127.0.0.1", 0)
    await server.start()
    (found,) = await services.ready(
        {"tool-executor": [f"http://127.0.0.1:{server.port}"]}, dict[str, float]().__setitem__
    )
    await server.stop()
    await health.stop()
    assert (found.subject, found.state, found.advice) == ("tool-executor", "wrong", services.OTHER_KEY_ADVICE)
    assert "another key than its NEXUS_PRINCIPAL_KEY" in found.text


async def test_a_gateway_that_could_not_store_the_last_file() -> None:
    async def check() -> str:
        return "the last file, sent 5 s ago, could not be stored: No space left on device"

    health = Health("gateway")
    health.add_check("files", check)
    health.started()
    health.ready()
    server = HealthServer(health, "127.0.0.1", 0)
    await server.start()
    (found,) = await services.ready({"gateway": [f"http://127.0.0.1:{server.port}"]}, dict[str, float]().__setitem__)
    await server.stop()
    await health.stop()
    assert (found.subject, found.state) == ("files", "wrong")
    assert "No space left on device" in found.text


async def test_a_stream_that_keeps_less_than_promised_is_a_note_of_memorys() -> None:
    gauge = Gauge(
        "nexus_stream_cut_short", "as memory tells it", ("stream",), registry=(registry := CollectorRegistry())
    )
    gauge.labels("FACTS").set(1)
    gauge.labels("CHAT").set(0)

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry)) if request.path == "/metrics" else web.json_response({})

    app = web.Application()
    app.router.add_get("/{path}", answer)
    async with TestServer(app) as server:
        found = await services.ready({"memory": [str(server.make_url("")).rstrip("/")]}, dict[str, float]().__setitem__)
    assert [(one.subject, one.state) for one in found] == [("memory", "ok"), ("stream FACTS", "note")]
    assert "restart memory" in (found[1].advice or "")
