"""A conversation in the terminal: typed lines in, streamed answers out."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import sys
import threading
from collections.abc import Coroutine
from typing import Any, Literal, NamedTuple, TextIO, TypeVar

from contracts.languages import named_language
from nexus_cli.chat.client import ChatConnection, ChatFailedError, conversation, visitor_token
from nexus_cli.chat.decisions import decision
from nexus_cli.chat.screen import FINAL, Screen
from nexus_cli.texts import TEXTS

# A little longer than a turn may take (NEXUS_TURN_DEADLINE_SECONDS), since a failed one is told in the chat.
_ANSWER_WITHIN = 150.0
_TRIES = 10
"""The number of tries for a piped line that is refused for the moment."""
Answer = Literal["message", "decision", "refusal"]


class Refused(NamedTuple):
    """A line that may be sent again after so many seconds; `identity`: a message's clientMessageId."""

    identity: str
    seconds: float


async def converse(gateway: str, *, token: str | None, company: str, locale: str, as_json: bool) -> None:
    """Chats until standard input ends and its last message has been answered.

    A line that is a plain yes or no decides what waits for one. A broken connection is made again, and nothing is lost.

    Raises:
        ChatFailedError: the gateway is out of reach, refuses, or does not answer in time.
    """
    gateway = gateway.rstrip("/")
    token = token or await visitor_token(gateway, company, locale)
    language = named_language(locale) or "en"
    screen = Screen(sys.stdout, sys.stderr, as_json=as_json, language=language)
    lines = _lines_of(sys.stdin)
    told = conversation(
        gateway, token, locale, lambda what: screen.aside(f"· {TEXTS[f'chat.{what}'].in_language(language)}")
    )
    async with told as (open_one, welcome):
        screen.show(welcome)
        answered = asyncio.Queue[Answer | Refused](maxsize=1000)
        reading = asyncio.create_task(_read(open_one, screen, answered))
        try:
            while (line := await _or_failure(lines.get(), reading)) is not None:
                if not line.strip():
                    continue
                while not answered.empty():
                    answered.get_nowait()
                awaited = await _take(line.strip(), open_one, screen)
                if not sys.stdin.isatty():
                    await _or_failure(_until_answered(line.strip(), awaited, open_one, screen, answered), reading)
        except TimeoutError:
            raise ChatFailedError(f"no answer within {_ANSWER_WITHIN:g} s") from None
        finally:
            reading.cancel()


async def _until_answered(
    line: str, awaited: Answer, open_one: ChatConnection, screen: Screen, answered: asyncio.Queue[Answer | Refused]
) -> None:
    """Waits for the answer to a piped line, and sends a line again that was refused for the moment."""
    for _ in range(_TRIES):
        found = await asyncio.wait_for(until(awaited, answered), _ANSWER_WITHIN)
        if not isinstance(found, Refused):
            return
        if found.seconds > _ANSWER_WITHIN:
            raise ChatFailedError(f"refused for {found.seconds:.0f} s")
        await asyncio.sleep(found.seconds)
        if awaited == "message":
            await open_one.say(line, found.identity)
        else:
            awaited = await _take(line, open_one, screen)
    raise ChatFailedError(f"refused {_TRIES} times")


async def until(awaited: Answer, answered: asyncio.Queue[Answer | Refused]) -> Answer | Refused:
    """Waits for the frame that answers a line. An action that ends in a message's own turn, replaced by another, is no
    answer."""
    while (found := await answered.get()) == "decision" and awaited == "message":
        continue
    return found


async def _take(line: str, open_one: ChatConnection, screen: Screen) -> Answer:
    decided = decision(line, list(screen.pending))
    if decided is None:
        await open_one.say(line)
        return "message"
    kind, action, edits = decided
    await open_one.send(kind, actionId=action, **({"edits": edits} if edits else {}))
    return "decision"


async def _read(open_one: ChatConnection, screen: Screen, answered: asyncio.Queue[Answer | Refused]) -> None:
    async for frame in open_one.frames():
        waited = set(screen.pending)
        screen.show(frame)
        found: Answer | Refused | None = None
        if frame["type"] == "message.created" and frame["message"]["role"] in FINAL:
            found = "message"
        elif frame["type"] == "action.updated" and not waited <= set(screen.pending):
            found = "decision"
        elif frame["type"] == "error" and not frame.get("retryable", False):
            found = "refusal"
        elif frame["type"] == "error" and "ref" in frame:
            found = Refused(frame["ref"], frame.get("retryAfterMs", 1000) / 1000)
        if found and not answered.full():
            answered.put_nowait(found)


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
        # The loop is closed, or its last work cancelled: nobody wants lines any more.
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
            for line in source:
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()

    threading.Thread(target=read, daemon=True).start()
    return lines
