"""The connection's own rules: headers read as nats-py reads them, reconnects, hooks that may fail."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nats.aio.client import Client
from pydantic import ValidationError
from structlog.testing import capture_logs

from runtime.bus.bus_client import BusClient
from runtime.bus.connection import ConnectionHooks, connect
from runtime.errors import NotReadyError
from runtime.lifecycle.health import bus_check
from runtime.settings import NatsSettings
from runtime.testing.network import proxy_to
from runtime.testing.servers import NatsServer, eventually
from runtime.tls import remedy
from tests.cluster.certificates import make_certificates

NAMES = ["Nats-Sequence", "Nats-Subject", "traceparent", "Status", "X", "bad name", " padded ", "ünï", "", "a:b"]
VALUES = ["", "1", " padded ", "a:b: c", "tab\there", "chat.a.b.message.visitor.v1", "höhe"]
LINE = st.one_of(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([":", ": ", ":\t", ""]), st.sampled_from(VALUES)).map("".join),
    st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12),
)


@example(first=["Nats-Sequence: 1"], second=["Nats-Sequence"])
@given(st.lists(LINE, max_size=6), st.lists(LINE, max_size=6))
def test_headers_are_read_as_nats_py_reads_them(first: list[str], second: list[str]) -> None:
    for lines in (first, second, first):
        raw = "\r\n".join([*lines, "", ""]).encode()
        expected = Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage]
        assert BusClient._parse_header_lines(raw) == expected  # pyright: ignore[reportPrivateUsage]


@pytest.mark.own_servers
async def test_it_comes_back_after_the_server_was_killed_and_says_so(nats_server: NatsServer) -> None:
    seen: list[str] = []
    hooks = ConnectionHooks()

    async def lost() -> None:
        seen.append("lost")

    async def back() -> None:
        seen.append("back")

    async def breaks() -> None:
        raise ValueError("a hook of somebody's")

    hooks.on_disconnect += [breaks, lost]
    hooks.on_reconnect += [breaks, back]
    client = await connect(NatsSettings(url=nats_server.url), name="test", hooks=hooks)
    nats_server.restart()
    await eventually(lambda: seen == ["lost", "back"])
    assert client.is_connected
    await client.close()


@pytest.mark.own_servers
async def test_a_server_that_freezes_is_left_and_found_again(nats_server: NatsServer) -> None:
    client = await connect(NatsSettings(url=nats_server.url, ping_interval=1), name="test")
    nats_server.pause()
    await eventually(lambda: not client.is_connected)
    nats_server.resume()
    await eventually(lambda: client.is_connected)
    assert (await client.request("$JS.API.INFO", b"", timeout=10)).data
    await client.close()


async def test_no_server_is_an_error_that_says_what_to_do_and_hides_the_password() -> None:
    with pytest.raises(NotReadyError, match="NEXUS_NATS_URL") as raised:
        await connect(NatsSettings(url="nats://me:hunter2@127.0.0.1:1", connect_deadline=0.3), name="test")
    assert "hunter2" not in str(raised.value)


async def test_the_log_says_what_may_be_wrong_before_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.bus.connection.SLOW_SECONDS", 0.1)
    with capture_logs() as logged, pytest.raises(NotReadyError):
        await connect(NatsSettings(url="nats://127.0.0.1:1", connect_deadline=2), name="test")
    (advice,) = [entry["advice"] for entry in logged if entry["event"] == "nats.not_yet_connected"]
    assert "NEXUS_NATS_URL" in advice


async def test_the_deadline_holds_also_where_an_attempt_swallows_its_cancel() -> None:
    async def swallow(_: Exception) -> None:
        hooks.on_error.clear()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    hooks = ConnectionHooks(on_error=[swallow])
    async with asyncio.timeout(10):
        with pytest.raises(NotReadyError):
            await connect(NatsSettings(url="nats://127.0.0.1:1", connect_deadline=0.3), name="test", hooks=hooks)


async def test_that_the_password_was_refused_is_said_though_the_server_was_lost_after_that(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)
    server.options = ("--user", "me", "--pass", "right")
    server.start()
    try:
        async with proxy_to(server.url) as proxy:

            async def lost(error: Exception) -> None:
                proxy.refusing = proxy.refusing or "uthorization" in str(error)
                after.append(str(error))

            after: list[str] = []
            hooks = ConnectionHooks(on_error=[lost])
            url = proxy.url.replace("nats://", "nats://me:wrong@")
            with pytest.raises(NotReadyError, match="uthorization"):
                await connect(NatsSettings(url=url, connect_deadline=3), name="test", hooks=hooks)
            assert "uthorization" not in after[-1]
    finally:
        server.kill()


async def test_who_is_refused_when_connecting_again_says_why_and_logs_it_once(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)
    server.options = ("--user", "me", "--pass", "right")
    server.start()
    tries: list[Exception] = []

    async def tried(error: Exception) -> None:
        tries.append(error)

    with capture_logs() as told:
        hooks = ConnectionHooks(on_error=[tried])
        url = server.url.replace("nats://", "nats://me:right@")
        client = await connect(NatsSettings(url=url), name="test", hooks=hooks)
        try:
            server.stop()
            server.options = ("--user", "me", "--pass", "another")
            server.start()

            async def refused() -> bool:
                return sum("uthorization" in str(error) for error in tries) > 2

            await eventually(refused)
            with pytest.raises(NotReadyError, match=r"disconnected: .*uthorization"):
                await bus_check(client)()
        finally:
            await client.close()
            server.kill()
    refusals = [one for one in told if "uthorization" in one.get("error", "") and one["log_level"] == "warning"]
    assert len(refusals) == 1


@pytest.mark.own_servers
async def test_a_server_that_asks_for_a_certificate_is_shown_one(
    tmp_path: Path, nats_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    make_certificates(tmp_path)
    ca, certificate, key = (str(tmp_path / name) for name in ("ca.pem", "server.pem", "server.key"))
    nats_server.stop()
    nats_server.options = ("--tlsverify", "--tlscacert", ca, "--tlscert", certificate, "--tlskey", key)
    nats_server.start()
    shown = NatsSettings(
        url=nats_server.url.replace("nats:", "tls:"), tls_ca=ca, tls_certificate=certificate, tls_key=key
    )
    client = await connect(shown, name="test")
    assert (await client.request("$JS.API.INFO", b"", timeout=10)).data
    nats_server.stop()
    nats_server.start()
    await eventually(lambda: client.stats["reconnects"] == 1)
    await client.close()
    assert "eof_received" not in caplog.text  # asyncio's warning about a reader that does not know of TLS
    wanted = "no connection to NATS .* wants a certificate of this client: name one, NEXUS_NATS_TLS_CERTIFICATE"
    with pytest.raises(NotReadyError, match=wanted):
        await connect(shown.model_copy(update={"tls_certificate": None, "connect_deadline": 1.0}), name="test")
    with pytest.raises(NotReadyError, match=r"NEXUS_NATS_TLS_CA.* cannot be used \(/nowhere.pem.*: .*No such file"):
        await connect(shown.model_copy(update={"tls_ca": "/nowhere.pem"}), name="test")


@pytest.mark.own_servers
async def test_a_renewed_certificate_is_shown_at_the_next_connection(tmp_path: Path, nats_server: NatsServer) -> None:
    def serve_with(authority: Path) -> None:
        shown = [str(authority / name) for name in ("ca.pem", "server.pem", "server.key")]
        nats_server.options = ("--tlsverify", "--tlscacert", shown[0], "--tlscert", shown[1], "--tlskey", shown[2])
        nats_server.start()

    old, new, ours = (tmp_path / name for name in ("old", "new", "ours"))
    for directory in (old, new, ours):
        directory.mkdir()
        make_certificates(directory)
    _replace(old, ours)
    nats_server.stop()
    serve_with(old)
    ca, certificate, key = (str(ours / name) for name in ("ca.pem", "server.pem", "server.key"))
    url = nats_server.url.replace("nats:", "tls:")
    client = await connect(NatsSettings(url=url, tls_ca=ca, tls_certificate=certificate, tls_key=key), name="test")
    nats_server.stop()
    serve_with(new)
    _replace(new, ours)
    await eventually(lambda: client.stats["reconnects"] == 1)
    assert (await client.request("$JS.API.INFO", b"", timeout=10)).data
    await client.close()


def _replace(source: Path, target: Path) -> None:
    for name in ("ca.pem", "server.pem", "server.key"):
        shutil.copy(source / name, target / name)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("certificate has expired (_ssl.c:1006)", "renew it, and let the server load it"),
        ("IP address mismatch, certificate is not valid for '10.0.0.1'.", "is for another name"),
        ("certificate verify failed: unable to get local issuer certificate", "name its authority, NEXUS_NATS_TLS_CA"),
        ("[SSL: SSLV3_ALERT_CERTIFICATE_EXPIRED] sslv3 alert certificate expired", "this client's certificate has"),
        ("[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca", "does not trust who issued this client's"),
    ],
)
def test_a_refused_certificate_is_told_with_what_to_do(said: str, told: str) -> None:
    assert told in (remedy("NATS", said) or "")
    assert remedy("Redis", "Connection refused") is None


@pytest.mark.parametrize("url", ["http://bus", "nats://", "nats://bus:port", ",", "nats://one:4222,redis://two:6379"])
def test_an_address_that_cannot_be_one_is_refused_at_once_with_what_to_write(url: str) -> None:
    with pytest.raises(ValidationError, match="write nats://HOST:PORT"):
        NatsSettings(url=url)


def test_addresses_that_can_be_ones_are_taken() -> None:
    url = "nats://u:p@ss@one:4222, tls://two,three:4222,ws://[::1]:443/,"
    assert len(NatsSettings(url=url).servers) == 4
