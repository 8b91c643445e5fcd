"""A company's Chatwoot, through its agent bot: with the offline model, in the stack that the other tests share."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from nexus_cli.drill.log_reader import read_log
from runtime.testing.servers import eventually
from tests.support.chatwoot import BOT, SECRET, TOKEN, Chatwoot, chatwoot
from tests.support.running_stack import RunningStack

PRICE = "what does the Pro plan cost?"


class Desk:
    """A company of the test's own, with one channel."""

    def __init__(self, stack: RunningStack, company: str, there: Chatwoot) -> None:
        self.stack = stack
        self.company = company
        self.there = there
        self.address = f"{stack.url}/v2/llm/config/{company}"
        self.headers = {"Authorization": f"Bearer {stack.mint('admin', 'root', company)}", "Accept-Language": "en"}
        self.channel: dict[str, Any] = {}

    async def settings(self, patch: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """As they are shown, after the patch."""
        if patch is None:
            async with self.there.http.get(self.address, headers=self.headers) as answer:
                return answer.status, await answer.json()
        headers = {**self.headers, "If-Match": "*"}
        async with self.there.http.patch(self.address, json=patch, headers=headers) as answer:
            return answer.status, await answer.json()

    def conversation(self, number: int) -> str:
        return f"cw_{self.channel['id'].partition('_')[2]}_{number}"

    async def until_log(self, number: int, *kinds: str) -> None:
        """Waits until these facts, and no others, are in the log."""

        async def there() -> bool:
            found = [kind for kind, _ in await self.log(number)]
            assert found == list(kinds)
            return True

        await eventually(there)

    async def log(self, number: int) -> list[tuple[str, str]]:
        """Kind and text of every fact."""
        facts = await read_log(self.stack.facts()["urls"]["nats"], self.company, self.conversation(number))
        return [(fact.kind, fact.data.get("text", "")) for fact in facts]


@pytest.fixture
async def desk(stack: RunningStack) -> AsyncIterator[Desk]:
    company = f"c-{uuid.uuid4().hex[:12]}"
    await stack.create_company(
        company, aiAutoResponseEnabled=True, responseDelayMs=0, preferredProvider="offline", handoffTimeoutSeconds=10
    )
    async with chatwoot() as there:
        made = Desk(stack, company, there)
        status, shown = await made.settings({"channels": [there.settings]})
        assert status == 200, shown
        (made.channel,) = shown["channels"]
        there.webhook = f"{stack.url}/v2/channels/chatwoot/{made.channel['id']}"
        yield made


async def test_what_is_asked_there_is_answered_there_once(desk: Desk) -> None:
    there = desk.there
    asked = there.message(1, "hello")
    picture = {"file_type": "image", "data_url": "https://chat.example/rails/blobs/x/my%20cat.png"}
    for event in (asked, asked, there.message(1, "a note", private=True)):
        assert await there.send(event) == 200
    await there.until(lambda: len(there.texts(1)) == 1)
    assert await there.send(there.message(1, None, attachments=[picture])) == 200
    await there.until(lambda: len(there.texts(1)) == 2)
    # The same again, late; what is no message of the contact's; and what says nothing that we know.
    updated = asked | {"event": "message_updated"}
    greeting = there.message(1, "Welcome", message_type="template", sender=None)
    broken = [
        {},
        {"event": "message_created"},
        {"event": "webwidget_triggered"},
        there.message(1, "x") | {"conversation": 5},
    ]
    for event in (asked, updated, greeting, *broken):
        assert await there.send(event) == 200
    person = {"id": 9, "name": "Olga", "type": "user"}
    assert await there.send(there.message(1, "I am Olga", message_type="outgoing", sender=person)) == 200
    await desk.until_log(1, "visitor", "assistant", "visitor", "assistant", "operator")
    log = await desk.log(1)
    assert [one for one in log if one[0] == "visitor"] == [("visitor", "hello"), ("visitor", "[image: my cat.png]")]
    assert [one for one in log if one[0] == "operator"] == [("operator", "I am Olga")]
    assert there.texts(1) == [text for kind, text in log if kind == "assistant"]
    assert there.answered_in  # how fast is judged by a benchmark, not here


async def test_a_conversation_of_a_persons_is_theirs_until_it_comes_back(desk: Desk) -> None:
    there = desk.there
    olga = {"id": 9, "name": "Olga", "type": "user"}
    # A clock that is far ahead does not make what comes behind it old news.
    opened = there.changed(2, "open", olga) | {"updated_at": 4e9}
    assert (
        await there.send(there.message(2, "hello") | {"conversation": there.conversation(2, status="pending")}) == 200
    )
    await there.until(lambda: len(there.texts(2)) == 1)
    assert await there.send(opened) == 200
    assert await there.send(there.message(2, PRICE)) == 200
    given_back = there.changed(2, "pending")
    await desk.until_log(2, "visitor", "assistant", "owner", "visitor")
    async with desk.stack.chat(desk.stack.mint("commercial", "boss", desk.company)) as watching:
        await watching.send_frame("conversation.watch", conversationId=desk.conversation(2))
        await watching.wait_for("snapshot", lambda f: f["conversationId"] == desk.conversation(2))
        # It is hers until Chatwoot says otherwise; late copies change nothing.
        assert await there.send(given_back) == 200
        await watching.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "ai")
        await there.until(lambda: len(there.texts(2)) == 2)
        for late in (opened, given_back):
            assert await there.send(late) == 200
        # Taken here, it is a person's there too; a late copy of what gave it back before changes nothing.
        await watching.send_frame("owner.take", conversationId=desk.conversation(2))
        await there.until(lambda: (2, "open") in there.statuses)
        assert await there.send(given_back) == 200
        await watching.send_frame(
            "message.send", conversationId=desk.conversation(2), clientMessageId=str(uuid.uuid4()), text="Boss here"
        )
        await there.until(lambda: there.texts(2)[-1] == "Boss here")
        await watching.send_frame("owner.release", conversationId=desk.conversation(2))
        await there.until(lambda: (2, "pending") in there.statuses)
    owners = [kind for kind, _ in await desk.log(2) if kind == "owner"]
    assert len(owners) == 4
    assert there.statuses == [(2, "open"), (2, "pending")]


async def test_a_conversation_that_is_given_to_the_bot_by_hand_is_answered(desk: Desk) -> None:
    there = desk.there
    olga, bot = {"id": 9, "name": "Olga", "type": "user"}, {"id": BOT, "name": "Nexus", "type": "agent_bot"}
    assert await there.send(there.message(6, "hello")) == 200
    await there.until(lambda: len(there.texts(6)) == 1)
    assert await there.send(there.changed(6, "open", olga)) == 200
    # Some releases leave it open, and some make it pending as well.
    for told in (there.changed(6, "open", bot), there.changed(6, "pending", bot)):
        told["meta"]["assignee_type"] = "AgentBot"
        assert await there.send(told) == 200
    assert await there.send(there.message(6, PRICE)) == 200
    await there.until(lambda: len(there.texts(6)) == 2)
    # The second change says what the first has done: it is stored for its time.
    await desk.until_log(6, "visitor", "assistant", "owner", "owner", "owner", "visitor", "assistant")


async def test_a_change_of_status_that_another_overtook_changes_nothing(desk: Desk) -> None:
    there, olga = desk.there, {"id": 9, "name": "Olga", "type": "user"}
    for number in (8, 9):
        assert await there.send(there.message(number, "hello")) == 200
    await there.until(lambda: len(there.texts(8)) == len(there.texts(9)) == 1)
    first = there.changed(8, "open", olga)
    asked = there.message(8, PRICE)
    late, second = there.changed(8, "pending"), there.changed(8, "open", olga)
    for told in (first, asked, second, late):
        assert await there.send(told) == 200
    await desk.until_log(8, "visitor", "assistant", "owner", "visitor", "owner")
    late, given_back = there.changed(9, "open", olga), there.changed(9, "pending")
    for told in (given_back, late, there.message(9, PRICE)):
        assert await there.send(told) == 200
    await desk.until_log(9, "visitor", "assistant", "owner", "visitor", "assistant")
    # By now the late one has been read as well.
    await desk.until_log(8, "visitor", "assistant", "owner", "visitor", "owner")


async def test_a_wish_for_a_person_opens_the_conversation_there(desk: Desk) -> None:
    there = desk.there
    assert await there.send(there.message(3, "I want to talk to a person")) == 200
    await there.until(lambda: (3, "open") in there.statuses)


async def test_only_what_the_channel_has_signed_is_taken(desk: Desk) -> None:
    there = desk.there
    event = there.message(4, "hello")
    assert await there.send(event, secret="somebody else's secret") == 401
    assert await there.send(event, at=1_700_000_000) == 401
    async with there.http.post(there.webhook, json=event) as unsigned:
        assert unsigned.status == 401
    right, there.webhook = there.webhook, f"{there.webhook[:-3]}xyz"
    assert await there.send(event) == 404
    there.webhook = right
    other_inbox = event | {"conversation": there.conversation(4, inbox_id=99)}
    assert await there.send(other_inbox) == 200
    assert await desk.log(4) == []


async def test_secrets_are_write_only_and_a_wrong_token_shows_at_once(desk: Desk, stack: RunningStack) -> None:
    shown = desk.channel
    assert (shown["token"], shown["secret"], shown["inbox"]) == ("********", "********", 7)
    _, settings = await desk.settings()
    assert "channels" not in [setting["field"] for setting in settings["warnings"]]
    assert not {TOKEN, SECRET} & set(str(settings).split("'"))
    # What was shown may be sent back; its secrets stay.
    status, settings = await desk.settings({"channels": settings["channels"]})
    assert await desk.there.send(desk.there.message(5, "hello")) == 200
    status, settings = await desk.settings({"channels": [shown | {"token": "another-token"}]})
    warning = next(setting for setting in settings["warnings"] if setting["field"] == "channels")
    assert (status, "does not accept the token" in warning["message"]) == (200, True)
    status, settings = await desk.settings({"channels": [shown | {"address": "http://127.0.0.1:9"}]})
    assert (
        "is not responding"
        in next(setting for setting in settings["warnings"] if setting["field"] == "channels")["message"]
    )
    for wrong in ({"id": "globex_a"}, {"address": "ftp://x"}, {"token": ""}, {"secret": "short"}):
        status, problem = await desk.settings({"channels": [shown | wrong]})
        assert (status, problem["code"]) == (422, "BAD_FIELD"), wrong
        assert problem["errors"][0]["field"].startswith("channels.0")


async def test_whoever_is_no_admin_sees_no_channel(desk: Desk) -> None:
    headers = {"Authorization": f"Bearer {desk.stack.mint('commercial', 'olga', desk.company)}"}
    async with aiohttp.ClientSession() as session, session.get(desk.address, headers=headers) as answer:
        assert answer.status == 403
