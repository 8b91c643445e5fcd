"""What a Chatwoot sends is read leniently."""

from typing import Any

import pytest

from gateway.doors.chatwoot import payload, route
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import Http, assert_problem

SAID: dict[str, Any] = {
    "event": "message_created",
    "id": 1,
    "content": "hi",
    "conversation": {"id": 1, "status": "pending", "updated_at": 1, "meta": {"sender": {"id": 101}}},
}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("message_type", []),
        ("sender", {"id": 1, "type": {}}),
        ("attachments", [{"data_url": "http://[no address/a.pdf"}]),
        ("conversation", {**SAID["conversation"], "id": 10**30}),
        ("conversation", {**SAID["conversation"], "updated_at": 10**400}),
        ("conversation", {**SAID["conversation"], "updated_at": "0001-01-01T00:00:00+14:00"}),
    ],
)
@pytest.mark.parametrize("kind", ["incoming", "outgoing"])
def test_an_event_of_a_form_that_nobody_foresaw_is_read_or_left(member: str, value: object, kind: str) -> None:
    found = payload.parse_event({**SAID, "message_type": kind, member: value})
    assert found is None or isinstance(found, payload.ChatwootMessage)


def test_an_attachment_has_the_name_of_its_address() -> None:
    sent = [{"file_type": "file", "data_url": "https://chat.example/rails/My%20offer.pdf?disposition=x"}]
    found = payload.parse_event({**SAID, "message_type": "incoming", "attachments": sent})
    assert isinstance(found, payload.ChatwootMessage)
    assert found.text == "hi\n[file: My offer.pdf]"


async def test_a_webhook_that_is_one_too_many_gets_the_error_that_chatwoot_tries_again(
    gateway: GatewayUnderTest, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    del gateway
    monkeypatch.setattr(route, "MAX_RUNNING", 0)
    signed = {"X-Chatwoot-Signature": "sha256=0", "X-Chatwoot-Timestamp": "1"}
    refused = await http("POST", "/v2/channels/chatwoot/acme_site", headers=signed, json=SAID)
    assert_problem(refused, 429, "RATE_LIMITED")
    assert refused[2]["retry-after"] == "3"
