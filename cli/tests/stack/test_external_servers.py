"""Addresses of servers outside the stack."""

import pytest

from nexus_cli.stack import external_servers
from nexus_cli.stack.errors import ServerUnreachableError
from nexus_cli.stack.external_servers import require_answer


@pytest.mark.parametrize(
    ("name", "url", "words"),
    [
        ("mongodb", "mongo://me:s3cret@127.0.0.1:27017", r"mongodb://USER.* or mongodb\+srv://"),
        ("mongodb", "mongodb://127.0.0.1:99999", "its port 99999 is none"),
        ("mongodb", "mongodb+srv://me:s3cret@a.example:1/x", "names no servers for a.example:1: .*port"),
        ("redis", "http://127.0.0.1:6379", "redis://HOST"),
        ("nats", "nats:127.0.0.1", "nats://HOST:PORT"),
    ],
)
async def test_what_is_no_address_is_told_with_the_form_that_is(name: str, url: str, words: str) -> None:
    with pytest.raises(ServerUnreachableError, match=f"NEXUS_{name.upper()}_URL.*{words}") as raised:
        await require_answer(name, url)
    assert "s3cret" not in str(raised.value)


async def test_a_start_does_not_wait_for_a_silent_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_servers, "DNS_SECONDS", 0)
    with pytest.raises(ServerUnreachableError, match=r"names no servers for db\.example: no answer of the DNS"):
        await require_answer("mongodb", "mongodb+srv://me:s3cret@db.example/nexus?w=1")
