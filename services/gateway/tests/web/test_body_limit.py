"""Bodies: what is no JSON, too large, too slow, or nested too deep."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import Http, assert_problem
from gateway.testing.tokens import TokenMaker
from gateway.web.body_limit import MAX_NESTING, nested_too_deep

pytestmark = pytest.mark.usefixtures("memory")


async def test_what_is_no_json_is_422_what_is_too_big_413_and_what_takes_too_long_408(
    http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Content-Type": "application/json"}
    assert_problem(await http("POST", "/v2/visitors", data=b"{no", headers=headers), 422, "BAD_FIELD")
    assert_problem(await http("POST", "/v2/visitors", data=b"x" * 30_000_000, headers=headers), 413, "TOO_LARGE")

    async def in_pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 65_536

    assert_problem(await http("POST", "/v2/visitors", data=in_pieces(), headers=headers), 413, "TOO_LARGE")

    answered = asyncio.Event()

    async def dripping() -> AsyncIterator[bytes]:
        while not answered.is_set():
            yield b" "
            with suppress(TimeoutError):  # then the next one
                async with asyncio.timeout(0.01):
                    await answered.wait()

    monkeypatch.setattr("gateway.web.body_limit.BODY_SECONDS", 0.1)
    async with asyncio.timeout(20):
        answer = await http("POST", "/v2/visitors", data=dripping(), headers=headers)
    answered.set()
    assert_problem(answer, 408, "TIMEOUT")


LONG = f"Content-Length: {2**31}\r\n"
CHUNK = b"100001\r\n" + b"x" * 0x100001 + b"\r\n"


@pytest.mark.parametrize(
    ("path", "fields", "sent"),
    [
        ("/v2/visitors", f"{LONG}Expect: 100-continue\r\n", b""),
        ("/v2/visitors", LONG, b""),
        ("/v2/visitors", "Transfer-Encoding: chunked\r\n", CHUNK),
        ("/v2/conversations/c1/files", f"{LONG}Expect: 100-continue\r\n", b""),
        ("/v2/conversations/c1/files", LONG, b""),
    ],
)
async def test_a_client_is_refused_at_once_whatever_it_still_sends(
    gateway: GatewayUnderTest, path: str, fields: str, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.web.body_limit.DISCARD_SECONDS", 3600.0)
    address = urlsplit(gateway.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode() + sent)
    async with asyncio.timeout(20):
        assert (await reader.readline()).split()[1] == b"413"
    writer.close()


@pytest.mark.parametrize(
    ("depth", "text", "refused"),
    [(64, b"1", False), (65, b"1", True), (300, b"1", True), (3, b'"[[\\"' + b"[" * 99 + b'"', False)],
)
def test_nesting_is_bounded_and_brackets_in_texts_do_not_count(depth: int, text: bytes, refused: bool) -> None:
    assert nested_too_deep(b"[" * depth + text + b"]" * depth) is refused
    mixed = [(b"[", b"]"), (b'{"a]":[1,', b'],"b":{}}')]
    opened, closed = zip(*(mixed[level % 2] for level in range(depth // 3 * 2)), strict=True) if depth > 3 else ((), ())
    assert nested_too_deep(b"".join(opened) + text + b"".join(reversed(closed))) is (depth // 3 * 3 > MAX_NESTING)


def test_many_that_are_beside_each_other_are_no_nesting() -> None:
    assert not nested_too_deep(b"[" + b'{"x":[1,2]},' * 10_000 + b"1]")


async def test_what_is_nested_too_deep_to_be_handed_on_is_refused_at_the_door(http: Http, tokens: TokenMaker) -> None:
    deep = "[" * 300 + "]" * 300
    for path in ("/v2/tools/get_price", "/v1/chat/completions", "/v2/visitors"):
        body = f'{{"arguments": {{"symbol": {deep}}}}}'
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {tokens.user('ana', 'user')}"}
        status, answer, _ = await http("POST", path, data=body, headers=headers)
        assert status == (400 if path.startswith("/v1") else 422), answer
        assert "nest at most 64" in json.dumps(answer)


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/responses", "/v2/ui/chat", "/v2/ag-ui", "/mcp", "/v2/visitors"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_half_a_character_that_is_not_escaped_is_refused_at_the_door(
    http: Http, tokens: TokenMaker, path: str, encoding: str
) -> None:
    body = '{"model": "nexus", "input": "\ud800", "messages": [{"role": "user", "content": "\ud800"}]}'
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {tokens.user('ana', 'user')}"}
    status, answer, _ = await http("POST", path, data=body.encode(encoding, "surrogatepass"), headers=headers)
    assert status == (400 if path.startswith("/v1") else 422), answer
    assert "half a character" in json.dumps(answer)
