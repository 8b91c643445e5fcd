"""Whatever a company's URL says, and whatever its resolver answers: nothing inside is ever connected to.

The canary is every socket of this process: an attempt to connect anywhere is noted, and ends there.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from memory.adapters.webhook_client import WebhookPosting
from runtime.http.guarded_http import AddressNotAllowedError, guarded_session
from runtime.http.public_address import is_public
from tests.security.inside import FORMS, HOSTS, V4, V6
from tool_executor.adapters.page_fetcher import FetchLimits, FetchRequest, PageFetcher
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, site_of

PUBLIC = "93.184.216.34"
PORT = 9
INSIDE = (*V4.values(), *V6, "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::")


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The addresses that somebody has tried to connect to; nobody got there."""
    found: list[str] = []

    def note(_: socket.socket, address: Any) -> None:
        found.append(str(address[0]))
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", note)
    yield found
    assert [one for one in found if not harmless(one)] == []


def harmless(address: str) -> bool:
    """Whether an address is out there: judged by Python's own tables, not by ours."""
    ip = ipaddress.ip_address(address)
    embedded = isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip.sixtofour or ip.teredo)
    return ip.is_global and not ip.is_multicast and not embedded


async def resolved(host: str, port: int) -> list[str]:
    """As the system's resolver answers, with no network: numbers in all their spellings, this machine's own names, and
    of any other name a public address."""
    if host.rstrip(".").lower() == "localhost":
        return ["127.0.0.1", "::1"]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return [PUBLIC]
    return [str(one[4][0]) for one in found]


async def posted(url: str, *, local: bool = False) -> None:
    posting = WebhookPosting(seconds=5, local=local, lookup=resolved)
    try:
        answer = await posting.post(url, {}, b"{}")
        assert answer.status == 0
    finally:
        await posting.close()


async def got(url: str) -> None:
    """By the guarded client alone, redirects and all."""
    session = guarded_session(is_public, seconds=5, headers={}, lookup=resolved)
    async with session:
        with pytest.raises((AddressNotAllowedError, aiohttp.ClientError, ValueError, OSError)):
            await session.get(url, max_redirects=3)


@pytest.mark.usefixtures("touched")
@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
async def test_a_host_that_is_inside_is_never_connected_to(host: str) -> None:
    url = f"https://{host}:{PORT}/"
    await got(url)
    await posted(url)
    # Nor is it a company's site, nor where one leads.
    with pytest.raises(AddressRefusedError):
        site_of([url.rstrip("/")], (), None)
    here = Site((Origin("https", "www.shop.example", 443),))
    for location in (url, url.removeprefix("https:"), f"https://www.shop.example@{host}:{PORT}/"):
        with pytest.raises(AddressRefusedError):
            here.redirected(here.page("/"), location)


@pytest.mark.usefixtures("touched")
@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "[::1]"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
async def test_an_address_that_reads_as_another_one_leads_nowhere_inside(form: str, host: str) -> None:
    url = form.format(host=host, port=PORT)
    await got(url)
    await posted(url)
    here = Site((Origin("https", "www.shop.example", 443),))
    with contextlib.suppress(AddressRefusedError):
        # A path of the site's own may be left, and nothing else.
        assert here.redirected(here.page("/"), url).origin == here.origins[0]


Ask = Callable[[list[list[str]]], Awaitable[None]]


def answering(answers: list[list[str]]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that gives these answers, and the last one ever after."""
    left = [*answers]

    async def lookup(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return lookup


async def a_page(answers: list[list[str]]) -> None:
    fetcher = PageFetcher(lookup=answering(answers), limits=FetchLimits(seconds=5.0))
    site = Site((Origin("https", "www.shop.example", PORT),))
    try:
        for ask in (fetcher.fetch(site, site.page("/")), fetcher.visit(site.page("/robots.txt"), FetchRequest())):
            with pytest.raises(ToolFailedError):
                await ask
    finally:
        await fetcher.close()


async def a_webhook(answers: list[list[str]]) -> None:
    posting = WebhookPosting(seconds=5, local=False, lookup=answering(answers))
    try:
        for _ in range(2):
            assert (await posting.post(f"https://hooks.shop.example:{PORT}/", {}, b"{}")).status == 0
    finally:
        await posting.close()


@pytest.mark.usefixtures("touched")
@pytest.mark.parametrize("ask", [a_page, a_webhook])
@pytest.mark.parametrize("inside", INSIDE)
async def test_a_resolver_that_says_now_this_and_now_that_is_believed_in_nothing_inside(inside: str, ask: Ask) -> None:
    inside = inside.replace("%25", "%")
    for answers in ([[inside]], [[PUBLIC], [inside]], [[inside], [PUBLIC]], [[PUBLIC, inside]], [[inside, PUBLIC]]):
        await ask(answers)


# ------------------------------------------------------------ where a connection does come about

OUTSIDE, WITHIN = "127.0.0.2", "127.0.0.3"
"""Loopback stands for both: of the two only the first one is accepted."""


class Places:
    """The same port on both addresses: a site, and the canary."""

    def __init__(self) -> None:
        self.port = 0
        self.served: list[str] = []
        self.canary = 0
        self.closing = False
        self.hangs_up = False
        self.location: str | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request after the other on a connection."""
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")).strip():
                self.served.append(head.split(b" ", 2)[1].decode())
                if self.hangs_up:
                    break
                status = f"302 Found\r\nLocation: {self.location}" if self.location else "200 OK"
                if self.closing:
                    status += "\r\nConnection: close"
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
                if self.closing:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def touched(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody is where nobody may be."""
        self.canary += 1
        writer.close()


@pytest.fixture
async def places() -> AsyncGenerator[Places]:
    """Both, and at the end nobody has touched the canary."""
    made = Places()
    site = await asyncio.start_server(made.serve, OUTSIDE, 0)
    made.port = site.sockets[0].getsockname()[1]
    canary = await asyncio.start_server(made.touched, WITHIN, made.port)
    yield made
    site.close()
    canary.close()
    assert made.canary == 0


@asynccontextmanager
async def guarded(answers: list[list[str]]) -> AsyncGenerator[aiohttp.ClientSession]:
    async with guarded_session(OUTSIDE.__eq__, seconds=10, headers={}, lookup=answering(answers)) as session:
        yield session


async def test_a_connection_that_is_kept_goes_to_the_address_that_was_checked(places: Places) -> None:
    async with guarded([[OUTSIDE], [WITHIN]]) as session:
        for number in range(3):
            async with session.get(f"http://shop.example:{places.port}/{number}") as answer:
                assert answer.status == 200
    assert places.served == ["/0", "/1", "/2"]


@pytest.mark.parametrize("changed", [[WITHIN], [OUTSIDE, WITHIN], [WITHIN, OUTSIDE]])
async def test_a_connection_that_is_made_anew_is_judged_anew(places: Places, changed: list[str]) -> None:
    places.closing = True
    async with guarded([[OUTSIDE], changed]) as session:
        async with session.get(f"http://shop.example:{places.port}/1") as answer:
            assert answer.status == 200
        with pytest.raises(AddressNotAllowedError):
            await session.get(f"http://shop.example:{places.port}/2")
    assert places.served == ["/1"]


@pytest.mark.parametrize("location", ["/next", "http://shop.example:{port}/next", "http://other.example:{port}/next"])
async def test_a_redirect_is_looked_up_and_judged_like_a_first_address(places: Places, location: str) -> None:
    places.closing, places.location = True, location.format(port=places.port)
    async with guarded([[OUTSIDE], [WITHIN]]) as session:
        with pytest.raises(AddressNotAllowedError):
            await session.get(f"http://shop.example:{places.port}/first")
    assert places.served == ["/first"]


async def test_a_redirect_to_an_address_inside_is_refused_at_the_socket(places: Places) -> None:
    places.location = f"http://{WITHIN}:{places.port}/next"
    async with guarded([[OUTSIDE]]) as session:
        with pytest.raises(AddressNotAllowedError):
            await session.get(f"http://shop.example:{places.port}/first")


async def test_a_request_that_the_client_repeats_by_itself_is_judged_anew(places: Places) -> None:
    async with guarded([[OUTSIDE], [WITHIN]]) as session:
        async with session.get(f"http://shop.example:{places.port}/kept") as answer:
            assert answer.status == 200
        # The kept connection ends as the next request arrives: the client tries again on one of its own.
        places.hangs_up = True
        with pytest.raises(AddressNotAllowedError):
            await session.get(f"http://shop.example:{places.port}/again")
    assert places.served == ["/kept", "/again"]


async def test_no_proxy_of_the_environment_is_asked(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{WITHIN}:{places.port}")
    async with guarded([[OUTSIDE]]) as session, session.get(f"http://shop.example:{places.port}/") as answer:
        assert answer.status == 200


def test_the_corpus_has_the_size_that_is_promised() -> None:
    assert len(HOSTS) + 3 * len(FORMS) + 2 * 5 * len(INSIDE) >= 240
