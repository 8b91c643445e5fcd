"""Whose address counts behind proxies."""

import ipaddress

import pytest
from starlette.types import Scope

from gateway.domain.forwarded import UNKNOWN_ADDRESS, client_address, forwarded, forwarded_for
from gateway.web.chat_endpoint import client_address as address_of
from gateway.web.proxies import Proxies

TRUSTED = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "header", "expected"),
    [
        ("10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "203.0.113.9, 192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "203.0.113.9, 192.0.2.7, 10.9.9.9", "192.0.2.7"),
        ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", "192.0.2.7:55012", "192.0.2.7"),
        ("10.0.0.1", "[2001:db8::7]:55012", "2001:db8::7"),
        ("10.0.0.1", "::ffff:192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "10.2.2.2, 10.3.3.3", "10.2.2.2"),
        ("10.0.0.1", "", UNKNOWN_ADDRESS),
        ("10.0.0.1", "192.0.2.7, unknown", UNKNOWN_ADDRESS),
        ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("192.0.2.1", "10.0.0.1", "192.0.2.1"),
    ],
)
def test_a_hop_is_believed_as_long_as_a_trusted_proxy_wrote_it(peer: str, header: str, expected: str) -> None:
    assert client_address(peer, forwarded_for(header), TRUSTED) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for=192.0.2.7", "192.0.2.7"),
        ('For="[2001:db8::7]:4711";proto=https;by=10.0.0.1', "2001:db8::7"),
        ("for=203.0.113.9, proto=https; for=192.0.2.7, for=10.3.3.3", "192.0.2.7"),
        ('for="203.0.113.9, for=192.0.2.7', "192.0.2.7"),
        ("for=203.0.113.9, for=_hidden", UNKNOWN_ADDRESS),
        ("for=203.0.113.9, proto=https", UNKNOWN_ADDRESS),
    ],
)
def test_the_standard_header_is_read_the_same_way(header: str, expected: str) -> None:
    assert client_address("10.0.0.1", forwarded(header), TRUSTED) == expected


def scope(kind: str, peer: str, *headers: tuple[bytes, bytes]) -> Scope:
    return {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "client": (peer, 999),
        "headers": list(headers),
    }


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_several_headers_are_one_and_a_client_cannot_choose_which(kind: str) -> None:
    said = scope(
        kind,
        "10.0.0.1",
        (b"x-forwarded-for", b"203.0.113.9"),
        (b"forwarded", b"for=203.0.113.8"),
        (b"x-forwarded-for", b"192.0.2.7"),
        (b"x-forwarded-proto", b"https"),
    )
    Proxies(TRUSTED).name_client(said)
    assert address_of(said) == "192.0.2.7"
    assert said["scheme"] == ("wss" if kind == "websocket" else "https")


def test_nobody_elses_headers_change_anything() -> None:
    said = scope("http", "192.0.2.1", (b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-proto", b"https"))
    before = dict(said)
    Proxies(TRUSTED).name_client(said)
    Proxies().name_client(said)
    assert said == before
