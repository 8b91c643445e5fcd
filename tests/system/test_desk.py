"""A shift at the desk, over HTTP and the websocket: resolved, opened again, assigned, noted, found."""

import asyncio
from typing import Any

from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


async def test_a_conversation_through_a_shift(stack: RunningStack, http: Http, company: str) -> None:
    ana, ben = (stack.mint("commercial", name, company) for name in ("ana", "ben"))
    token, _ = await stack.visitor(company, locale="en")

    async def listed(who: str, **query: Any) -> list[str]:
        status, body, _ = await http("GET", "/v2/conversations", token=who, params=query)
        assert status == 200, body
        return [item["id"] for item in body["items"]]

    async with ChatClient(stack.url, token) as visitor, ChatClient(stack.url, ana) as desk:
        await visitor.hello(locale="en")
        await visitor.ask("what can you do?")
        name = visitor.conversation
        path = f"/v2/conversations/{name}"
        await desk.hello()
        await desk.send_frame("inbox.watch")
        await desk.wait_for("inbox.changed")

        assert await listed(ana, state="unassigned") == [name]
        status, view, _ = await http("PATCH", path, token=ana, json={"assignee": "me", "labels": ["vip"]})
        assert (status, view["assignee"], view["labels"]) == (200, "ana", ["vip"]), view
        await desk.wait_for("inbox.changed", lambda frame: name in frame["conversationIds"])
        # Two at once: whoever thinks that it is nobody's is told whose it is.
        status, refused, _ = await http("PATCH", path, token=ben, json={"assignee": "me", "expectedAssignee": None})
        assert (status, "ana" in refused["detail"]) == (409, True)
        assert (await listed(ana, state="mine"), await listed(ben, state="mine")) == ([name], [])

        # Two who label it at once: both labels are there.
        both = (
            http("PATCH", path, token=who, json={"addLabels": [label]})
            for who, label in ((ana, "billing"), (ben, "late"))
        )
        assert [status for status, _, _ in await asyncio.gather(*both)] == [200, 200]
        _, view, _ = await http("PATCH", path, token=ana, json={"removeLabels": ["billing"]})
        assert sorted(view["labels"]) == ["late", "vip"]

        note = {"text": "@ben the zebra invoice"}
        status, added, _ = await http("POST", f"{path}/notes", token=ana, json=note)
        assert (status, added["mentions"], added["by"]) == (201, ["ben"], "ana")
        status, notes, _ = await http("GET", f"{path}/notes", token=ben)
        assert [note["text"] for note in notes["items"]] == [note["text"]]
        assert [note["assignee"] for note in notes["changes"] if "assignee" in note] == ["ana"]

        status, view, _ = await http("PATCH", path, token=ana, json={"state": "resolved", "topic": "Plans"})
        assert (view["state"], view["resolvedBy"]) == ("resolved", "ana")
        assert (await listed(ana, state="resolved"), await listed(ana, state="mine")) == ([name], [])
        status, counts, _ = await http("GET", "/v2/conversations/counts", token=ana)
        assert (status, counts["all"], counts["resolved"], counts["mine"]) == (200, 1, 1, 0)
        assert await listed(ana, q="vip") == await listed(ana, q="what can you") == [name]
        assert await listed(ana, q="zebra") == []

        await visitor.ask("and what does Pro cost?")
        assert (await listed(ana, state="resolved"), await listed(ana, state="mine")) == ([], [name])
        last = await visitor.say("that's all, thanks")
        await visitor.answer_after(last["seq"])

        async def over() -> bool:
            return await listed(ana, state="resolved") == [name]

        await eventually(over)
        status, notes, _ = await http("GET", f"{path}/notes", token=ana)
        assert notes["changes"][-1]["reason"] == "confirmed", notes

        # Nothing of it reaches the visitor, or what a model is told.
        assert "zebra" not in str(visitor.frames)
        status, _, _ = await http("PATCH", path, token=token, json={"state": "open"})
        assert status == 403
        status, own, _ = await http("POST", "/v2/conversations", token=token, json={"topic": "Refund"})
        assert (status, own["previous"]) == (201, name), own
        await http("PUT", "/v2/replies/hi", token=ana, json={"text": "Hi {name}"})
        status, replies, _ = await http("GET", "/v2/replies", token=ben)
        assert replies == {"items": [{"shortcut": "hi", "text": "Hi {name}"}], "company": company}
