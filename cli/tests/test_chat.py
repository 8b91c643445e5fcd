"""`nexus chat` against a gateway whose part the test plays, frame by frame."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from nexus_cli.chat.decisions import decision
from nexus_cli.chat.screen import Screen
from nexus_cli.testing.stacks import run_forked

Send = Callable[..., Coroutine[Any, Any, None]]
ANSWER = {"id": "m2", "seq": 2, "role": "assistant", "text": "29 USD.", "citations": [{"url": "http://x/pricing"}]}

UNCHANGED: dict[str, float] = {}
ORDER = {"id": "a1", "kind": "paper_order", "state": "pending", "summary": "Buy 3 AAPL at market (paper)"}


@asynccontextmanager
async def serving(chat: Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]) -> AsyncGenerator[str]:
    """A gateway that gives the visitors of demo a token; `chat` is its websocket."""

    async def visitors(request: web.Request) -> web.Response:
        company = (await request.json())["companyId"]
        if company != "demo":
            return web.json_response({"title": "No such company"}, status=404)
        return web.json_response({"token": "t", "visitorId": "v", "expiresAt": "2030-01-01T00:00:00Z"}, status=201)

    application = web.Application()
    application.add_routes([web.post("/v2/visitors", visitors), web.get("/v2/chat/ws", chat)])
    async with TestServer(application) as server:
        yield str(server.make_url("")).rstrip("/")


@asynccontextmanager
async def gateway(answer: Callable[[Send, str], Coroutine[Any, Any, None]]) -> AsyncGenerator[str]:
    """A gateway that welcomes everybody and answers each message with `answer`."""

    async def chat(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)

        async def send(kind: str, **fields: Any) -> None:
            ref = {"ref": frame["clientMessageId"]} if kind == "error" else {}
            await socket.send_json({"v": 1, "type": kind, "conversationId": "c", **ref, **fields})

        async for message in socket:
            frame = json.loads(message.data)
            if frame["type"] == "hello":
                assert frame["token"] == "t"
                await send("welcome", epoch="e", seq=0)
            elif frame["type"] == "message.send":
                await answer(send, frame["text"])
            elif frame["type"] in {"action.confirm", "action.reject"}:
                state = {"action.confirm": "confirmed", "action.reject": "rejected"}[frame["type"]]
                quantity = frame.get("edits", {}).get("quantity")
                changed = {"summary": f"Buy {quantity:g} AAPL"} if quantity else {}
                await send("action.updated", action={**ORDER, **changed, "id": frame["actionId"], "state": state})
        return socket

    async with serving(chat) as url:
        yield url


async def chat(url: str, text: str, *options: str, cwd: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "nexus_cli", "chat", "--url", url, "--locale", "en", *options]
    done = await asyncio.to_thread(run_forked, command, os.environ, timeout=90, typed=text, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


async def streamed(send: Send, text: str) -> None:
    assert text == "What does the Pro plan cost?"
    await send("tool.started", turnId="t", callId="1", tool="fetch_page", label="Reading /pricing…")
    for number, part in enumerate(["29 ", "USD."]):
        await send("message.delta", turnId="t", messageId="m2", deltaSeq=number, delta=part)
    await send("message.created", message=ANSWER)


async def test_a_question_in_a_pipe_is_answered_once_with_its_source(tmp_path: Path) -> None:
    async with gateway(streamed) as url:
        code, out, err = await chat(url, "What does the Pro plan cost?\n", cwd=tmp_path)
    assert (code, out) == (0, "29 USD.\n  [http://x/pricing] http://x/pricing\n")
    assert err == "· conversation c\n· Reading /pricing…\n"


async def test_a_line_in_a_pipe_waits_for_its_own_answer_when_an_order_is_replaced(tmp_path: Path) -> None:
    next_line, answering = asyncio.Event(), list[asyncio.Task[None]]()
    early: list[str] = []

    async def answer(send: Send, text: str) -> None:
        if text == "make it 5":
            await send("action.updated", action={**ORDER, "state": "rejected"})
            answering.append(asyncio.create_task(late(send)))
            return
        if text == "how much is it?":
            next_line.set()
        await send("action.updated", action=ORDER)
        await send("message.created", message=ANSWER)

    async def late(send: Send) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(next_line.wait(), 1)
            early.append("the next line came before the answer")
        await send("message.created", message=ANSWER)

    async with gateway(answer) as url:
        code, _, _ = await chat(url, "buy 3\nmake it 5\nhow much is it?\n", cwd=tmp_path)
    assert (code, early) == (0, [])


async def test_a_line_in_a_pipe_that_is_refused_for_the_moment_is_sent_again_when_it_may_be(tmp_path: Path) -> None:
    said: list[str] = []

    async def answer(send: Send, text: str) -> None:
        said.append(text)
        if len(said) == 1:
            await send("error", code="RATE_LIMITED", message="too many messages", retryable=True, retryAfterMs=50)
        else:
            await send("message.created", message=ANSWER)

    async with gateway(answer) as url:
        code, out, err = await chat(url, "one\ntwo\n", cwd=tmp_path)
    assert (code, said) == (0, ["one", "one", "two"])
    assert out.count("29 USD.") == 2
    assert "RATE_LIMITED" in err


async def test_a_line_in_a_pipe_that_is_refused_for_long_ends_the_chat(tmp_path: Path) -> None:
    async def answer(send: Send, _: str) -> None:
        refusal = "too many new conversations"
        await send("error", code="RATE_LIMITED", message=refusal, retryable=True, retryAfterMs=2_600_000)

    async with gateway(answer) as url:
        code, _, err = await chat(url, "one\ntwo\n", cwd=tmp_path)
    assert (code, "nexus: refused for 2600 s" in err) == (1, True)


async def test_with_json_each_final_message_is_one_line(tmp_path: Path) -> None:
    async with gateway(streamed) as url:
        code, out, _ = await chat(url, "What does the Pro plan cost?\n", "--json", cwd=tmp_path)
    assert code == 0
    assert json.loads(out) == ANSWER


async def test_a_company_that_does_not_exist_is_one_clear_line(tmp_path: Path) -> None:
    async with gateway(streamed) as url:
        code, out, err = await chat(url, "hello\n", "--company", "nobody", cwd=tmp_path)
    assert (code, out, err) == (1, "", "nexus: No such company\n")


@pytest.mark.parametrize("begun", [False, True])
async def test_why_the_gateway_closes_a_conversation_is_told_in_its_words(tmp_path: Path, begun: bool) -> None:
    async def closing(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        if begun:
            await socket.send_json({"v": 1, "type": "welcome", "conversationId": "c", "epoch": "e", "seq": 0})
        await socket.close(code=4503, message=b"this address is blocked")
        return socket

    async with serving(closing) as url:
        code, _, err = await chat(url, "hello\n", cwd=tmp_path)
    assert code == 1
    assert "nexus: the gateway closed the conversation: this address is blocked" in err


async def test_a_gateway_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    code, _, err = await chat("http://127.0.0.1:1", "hello\n", cwd=tmp_path)
    assert code == 1
    assert err.startswith("nexus: http://127.0.0.1:1 does not answer like a gateway")
    assert len(err.strip().splitlines()) == 1


def test_the_final_message_replaces_what_was_streamed_of_an_answer_that_was_driven_anew() -> None:
    out = io.StringIO()
    screen = Screen(out, io.StringIO(), as_json=False)
    screen.show({"type": "message.delta", "messageId": "m2", "deltaSeq": 0, "delta": "30 E"})
    screen.show({"type": "message.delta", "messageId": "m2", "deltaSeq": 0, "delta": "29 "})
    screen.show({"type": "message.created", "message": ANSWER})
    assert out.getvalue().splitlines()[:3] == ["30 E", "29 ", "29 USD."]


def test_nobodys_words_steer_the_terminal() -> None:
    out, aside = io.StringIO(), io.StringIO()
    screen = Screen(out, aside, as_json=False)
    screen.show({"type": "message.delta", "messageId": ANSWER["id"], "deltaSeq": 0, "delta": "a\x1b"})
    screen.show({"type": "message.delta", "messageId": ANSWER["id"], "deltaSeq": 1, "delta": "]0;b\x07"})
    source = {"title": "c\x9b2J", "url": "https://d.test/\u202e"}
    screen.show({"type": "message.created", "message": {**ANSWER, "text": "e\x1b[2J\r\nf\x00", "citations": [source]}})
    screen.show({"type": "owner.changed", "owner": {"kind": "human", "name": "g\x1b]52;c;h\x07"}})
    assert out.getvalue().splitlines() == [
        "a\ufffd]0;b\ufffd",
        "e\ufffd[2J",
        "f\ufffd",
        "  [c\ufffd2J] https://d.test/\ufffd",
    ]
    assert "g\ufffd]52;c;h\ufffd" in aside.getvalue()


def test_what_the_visitor_wrote_is_not_repeated() -> None:
    out = io.StringIO()
    screen = Screen(out, io.StringIO(), as_json=False)
    screen.show({"type": "message.created", "message": {**ANSWER, "role": "visitor"}})
    assert out.getvalue() == ""


async def offers_an_order(send: Send, text: str) -> None:
    await send("message.created", message={**ANSWER, "text": f"{text}: shall I?", "actions": [ORDER]})


async def test_a_plain_yes_confirms_the_order_that_waits(tmp_path: Path) -> None:
    async with gateway(offers_an_order) as url:
        code, out, err = await chat(url, "Buy 3 AAPL\nyes\n", cwd=tmp_path)
    assert code == 0
    assert out.splitlines()[0] == "Buy 3 AAPL: shall I?"
    assert "? Buy 3 AAPL at market (paper): waits for your yes" in err
    assert err.splitlines()[-1] == "· Buy 3 AAPL at market (paper): confirmed"


async def test_a_yes_may_change_what_the_order_lets_be_changed(tmp_path: Path) -> None:
    async def offers(send: Send, text: str) -> None:
        editable = {"quantity": {"type": "number"}}
        order: dict[str, Any] = {**ORDER, "editable": editable, "details": {"quantity": "3"}}
        await send("message.created", message={**ANSWER, "text": text, "actions": [order]})

    async with gateway(offers) as url:
        code, _, err = await chat(url, "Buy 3 AAPL\ny quantity=2\n", cwd=tmp_path)
    assert code == 0
    assert "y quantity=3 confirms it with other values" in err
    assert err.splitlines()[-1] == "· Buy 2 AAPL: confirmed"


def test_a_waiting_order_keeps_its_number_and_a_fill_is_told_once() -> None:
    aside = io.StringIO()
    screen = Screen(io.StringIO(), aside, as_json=False)
    orders: list[Any] = [
        {**ORDER, "id": one, "editable": {"quantity": {}}, "details": {"quantity": "3"}} for one in "abc"
    ]
    screen.show({"type": "welcome", "pendingActions": orders})
    assert "y 3 quantity=3 confirms it with other values" in aside.getvalue()
    screen.show({"type": "action.updated", "action": {**orders[0], "state": "confirmed"}})
    # The second is not the third now that the first is decided.
    assert decision("y 2 quantity=4", screen.pending) == ("action.confirm", "b", {"quantity": 4})
    assert decision("y 1", screen.pending) is None
    screen.show({"type": "action.updated", "action": {**orders[1], "state": "rejected"}})
    assert decision("n", screen.pending) == ("action.reject", "c", UNCHANGED)
    for filled in ("1", "1", "3"):
        details = {"quantity": "3", "outcome": f"Filled: {filled} at 600 USD"}
        screen.show({"type": "action.updated", "action": {**orders[0], "state": "confirmed", "details": details}})
    assert [line[-20:] for line in aside.getvalue().splitlines() if "Filled" in line] == [
        "Filled: 1 at 600 USD",
        "Filled: 3 at 600 USD",
    ]


@pytest.mark.parametrize(
    ("line", "pending", "decided"),
    [
        ("y", ["a"], ("action.confirm", "a", UNCHANGED)),
        ("Sí.", ["a"], ("action.confirm", "a", UNCHANGED)),
        ("no", ["a"], ("action.reject", "a", UNCHANGED)),
        ("n 2", ["a", "b"], ("action.reject", "b", UNCHANGED)),
        ("y quantity=2", ["a"], ("action.confirm", "a", {"quantity": 2})),
        ("s 2 quantity=2 limitPrice=180,5", ["a", "b"], ("action.confirm", "b", {"quantity": 2, "limitPrice": 180.5})),
        ("n quantity=2", ["a"], None),
        ("y quantity=two", ["a"], None),
        ("yes", ["a", "b"], None),
        ("y 3", ["a", "b"], None),
        ("yes, but make it 5", ["a"], None),
        ("y", [], None),
    ],
)
def test_a_line_decides_only_when_it_is_plain_what_is_meant(
    line: str, pending: list[str], decided: tuple[str, str, dict[str, float]] | None
) -> None:
    numbered = {action: number for number, action in enumerate(pending, 1)}
    assert decision(line, numbered) == decided


async def test_a_message_that_a_dying_gateway_did_not_acknowledge_is_sent_again(tmp_path: Path) -> None:
    texts: list[tuple[str, bool]] = []

    async def dies_once(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            frame = json.loads(message.data)
            if frame["type"] == "hello":
                await socket.send_json({"v": 1, "type": "welcome", "conversationId": "c", "epoch": "e", "seq": 0})
                continue
            texts.append((frame["clientMessageId"], frame.get("retry", False)))
            if len(texts) == 1:
                await socket.close(code=4001)
                break
            await socket.send_json({"type": "message.ack", "clientMessageId": frame["clientMessageId"], "seq": 1})
            await socket.send_json({"type": "message.created", "message": ANSWER})
        return socket

    async with serving(dies_once) as url:
        code, out, err = await chat(url, "hello\n", cwd=tmp_path)
    assert code == 0
    assert out.startswith("29 USD.")
    assert [retry for _, retry in texts] == [False, True]
    assert len({identity for identity, _ in texts}) == 1
    assert "· connected again" in err


async def test_it_goes_on_from_the_last_snapshot_that_arrived(tmp_path: Path) -> None:
    """Cut off between a welcome and its snapshot, it does not take what the snapshot held for read."""
    since: list[dict[str, Any] | None] = []

    async def cuts_off(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            frame = json.loads(message.data)
            if frame["type"] == "hello":
                since.append(frame.get("since"))
                epoch = "new" if len(since) > 1 else "old"
                await socket.send_json({"v": 1, "type": "welcome", "conversationId": "c", "epoch": epoch, "seq": 0})
                if len(since) == 2:
                    await socket.close(code=4001)
                continue
            ack = {"type": "message.ack", "clientMessageId": frame["clientMessageId"], "seq": 1}
            if len(since) == 1:
                await socket.close(code=4001)
            else:
                await socket.send_json(ack)
                await socket.send_json({"type": "snapshot", "messages": [ANSWER], "epoch": "new", "seq": 2})
        return socket

    async with serving(cuts_off) as url:
        code, out, _ = await chat(url, "hello\n", cwd=tmp_path)
    assert (code, since) == (0, [None, {"epoch": "old", "seq": 0}, {"epoch": "old", "seq": 0}])
    assert out.startswith("29 USD.")
