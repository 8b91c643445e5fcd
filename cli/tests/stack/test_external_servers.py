"""Addresses of servers outside the stack."""

import pytest

from nexus_cli.stack.errors import ServerUnreachableError
from nexus_cli.stack.external_servers import require_answer


@pytest.mark.parametrize(
    ("name", "url", "words"),
    [
        ("mongodb", "mongo://me:s3cret@127.0.0.1:27017", r"mongodb://USER.* or mongodb\+srv://"),
        ("mongodb", "mongodb://127.0.0.1:99999", "its port 99999 is none"),
        ("redis", "http://127.0.0.1:6379", "redis://HOST"),
        ("nats", "nats:127.0.0.1", "nats://HOST:PORT"),
    ],
)
async def test_what_is_no_address_is_told_with_the_form_that_is(name: str, url: str, words: str) -> None:
    with pytest.raises(ServerUnreachableError, match=f"NEXUS_{name.upper()}_URL.*{words}") as raised:
        await require_answer(name, url)
    assert "s3cret" not in str(raised.value)
