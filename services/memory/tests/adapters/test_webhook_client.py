"""Where a webhook may lead: to the public Internet, and in development to this machine too."""

import pytest

from memory.adapters.webhook_client import WebhookPosting
from memory.testing.receiver import receiving

INSIDE = [
    "10.0.0.5",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "::ffff:10.0.0.5",
    "fd00::1",
    "0.0.0.0",
]


@pytest.mark.parametrize("address", INSIDE)
@pytest.mark.parametrize("local", [False, True])
async def test_a_name_that_leads_inside_is_never_connected_to(address: str, local: bool) -> None:
    async def lookup(host: str, port: int) -> list[str]:
        del host, port
        # One good address does not make up for a bad one.
        return ["93.184.216.34", address]

    posting = WebhookPosting(seconds=2, local=local, lookup=lookup)
    answer = await posting.post("https://shop.example/hook", {}, b"{}")
    await posting.close()
    assert answer.forbidden
    assert "not on the public Internet" in answer.problem


@pytest.mark.parametrize(
    "url", ["https://10.0.0.5/", "https://[::1]/", "https://2130706433/", "https://0x7f000001/", "https://127.1/"]
)
async def test_an_address_in_any_notation_is_judged_like_a_name(url: str) -> None:
    posting = WebhookPosting(seconds=2, local=False)
    answer = await posting.post(url, {}, b"{}")
    await posting.close()
    assert answer.status == 0
    assert answer.forbidden or "could not be reached" in answer.problem


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.5"]])

    async def lookup(host: str, port: int) -> list[str]:
        del host, port
        return next(answers)

    async with receiving(b"a secret of these tests") as shop:
        posting = WebhookPosting(seconds=2, local=True, lookup=lookup)
        answer = await posting.post(shop.url.replace("127.0.0.1", "shop.example"), {}, b"{}")
        # Reached, and refused for its missing signature; nothing was looked up a second time.
        assert answer.status == 500
        assert next(answers) == ["10.0.0.5"]
        await posting.close()


@pytest.mark.parametrize(
    "url", ["https://shop.example\\@10.0.0.5/hook", "https://1\u00ad27.0.0.1/hook", "https://[::1/hook"]
)
async def test_an_address_that_can_be_read_in_two_ways_is_answered_for_and_not_asked(url: str) -> None:
    posting = WebhookPosting(seconds=2, local=False)
    answer = await posting.post(url, {}, b"{}")
    await posting.close()
    assert answer.forbidden
