"""The terminal's side of a conversation: lines in, streamed answers out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TextIO, TypeVar, cast

from nexus_cli.chatting.client import ChatFailed, Conversation, Frame, conversation, visitor_token

# A little longer than a turn may take (NEXUS_TURN_DEADLINE_SECONDS), since a failed one is told in the chat.
_ANSWER_WITHIN = 150.0
_FINAL = {"assistant", "operator", "system"}


class Screen:
    """Turns frames into text. Answers go to `out`; what happens beside them goes to `aside`."""

    def __init__(self, out: TextIO, aside: TextIO, *, as_json: bool) -> None:
        self._out = out
        self._aside = aside
        self._as_json = as_json
        self._streamed: dict[str, str] = {}

    def show(self, frame: Frame) -> None:
        """Shows one frame, if there is anything to see in it."""
        match frame["type"]:
            case "message.delta" if not self._as_json:
                self._delta(frame["messageId"], frame["deltaSeq"], frame["delta"])
            case "message.created":
                self._message(frame["message"])
            case "tool.started":
                print(f"· {frame.get('label') or frame['tool']}", file=self._aside, flush=True)
            case "run.error" | "error":
                print(f"! {frame['code']}: {frame['message']}", file=self._aside, flush=True)
            case "owner.changed" if frame["owner"]["kind"] != "ai":
                print(f"· {frame['owner'].get('name') or frame['owner']['kind']}", file=self._aside, flush=True)
            case _:
                return

    def _delta(self, message: str, number: int, text: str) -> None:
        if number == 0 and self._streamed.get(message):  # driven anew: what was shown of it no longer counts
            print(file=self._out)
            self._streamed[message] = ""
        self._streamed[message] = self._streamed.get(message, "") + text
        print(text, end="", file=self._out, flush=True)

    def _message(self, message: Frame) -> None:
        if message["role"] not in _FINAL:
            return
        if self._as_json:
            print(json.dumps(message, ensure_ascii=False), file=self._out, flush=True)
            return
        streamed = self._streamed.pop(message["id"], "")
        if streamed != message["text"]:  # the final message is what counts
            print(("\n" if streamed else "") + message["text"], end="", file=self._out)
        print(file=self._out)
        for citation in cast(list[Frame], message.get("citations") or []):
            print(f"  [{citation.get('title') or citation['url']}] {citation['url']}", file=self._out)
        self._out.flush()


async def converse(gateway: str, *, token: str | None, company: str, locale: str, as_json: bool) -> None:
    """Chats until standard input ends and its last message has been answered.

    Raises:
        ChatFailed: the gateway is out of reach, refuses, or does not answer in time.
    """
    gateway = gateway.rstrip("/")
    token = token or await visitor_token(gateway, company, locale)
    screen = Screen(sys.stdout, sys.stderr, as_json=as_json)
    lines = _lines_of(sys.stdin)
    async with conversation(gateway, token, locale) as open_one:
        answered = asyncio.Queue[bool](maxsize=1000)
        reading = asyncio.create_task(_read(open_one, screen, answered))
        try:
            while (line := await _or_failure(lines.get(), reading)) is not None:
                if not line.strip():
                    continue
                await open_one.say(line.strip())
                if not sys.stdin.isatty():
                    await _or_failure(asyncio.wait_for(answered.get(), _ANSWER_WITHIN), reading)
        except TimeoutError:
            raise ChatFailed(f"no answer within {_ANSWER_WITHIN:g} s") from None
        finally:
            reading.cancel()


async def _read(open_one: Conversation, screen: Screen, answered: asyncio.Queue[bool]) -> None:
    async for frame in open_one.frames():
        screen.show(frame)
        final = frame["type"] == "message.created" and frame["message"]["role"] in _FINAL
        refused = frame["type"] == "error" and not frame.get("retryable", False)
        if (final or refused) and not answered.full():
            answered.put_nowait(True)


T = TypeVar("T")


async def _or_failure(work: Coroutine[Any, Any, T], reading: asyncio.Task[None]) -> T:
    """The result of `work`, unless the conversation ends first."""
    task = asyncio.create_task(work)
    await asyncio.wait([task, reading], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await reading
    return await task


def _lines_of(source: TextIO) -> asyncio.Queue[str | None]:
    """Lines as they are typed, then None. The thread dies with the process: a blocked read cannot be cancelled."""
    loop = asyncio.get_running_loop()
    lines = asyncio.Queue[str | None](maxsize=1000)

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants lines any more
            for line in source:
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()

    threading.Thread(target=read, daemon=True).start()
    return lines
