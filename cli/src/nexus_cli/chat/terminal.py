"""A conversation in the terminal: reads typed lines and prints streamed answers."""

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

# A little longer than a turn may take (NEXUS_TURN_DEADLINE_SECONDS), since the chat reports a failed turn.
_ANSWER_SECONDS = 150.0
_MAX_ATTEMPTS = 10
"""Number of attempts for a piped line that is refused temporarily."""
Answer = Literal["message", "decision", "refusal"]


class Refused(NamedTuple):
    """A line was refused and may be sent again after `seconds`. `identity` is the clientMessageId of a message."""

    identity: str
    seconds: float


async def converse(gateway: str, *, token: str | None, company: str, locale: str, as_json: bool) -> None:
    """Chats until standard input ends and its last message has been answered.

    A line that is a plain yes or no decides a pending action. A lost connection is opened again without loss.

    Raises:
        ChatFailedError: the gateway is unreachable, refuses, or does not answer in time.
    """
    gateway = gateway.rstrip("/")
    token = token or await visitor_token(gateway, company, locale)
    language = named_language(locale) or "en"
    screen = Screen(sys.stdout, sys.stderr, as_json=as_json, language=language)
    lines = _lines_of(sys.stdin)
    opened = conversation(
        gateway, token, locale, lambda event: screen.aside(f"· {TEXTS[f'chat.{event}'].in_language(language)}")
    )
    async with opened as (connection, welcome):
        screen.show(welcome)
        answers = asyncio.Queue[Answer | Refused](maxsize=1000)
        reading = asyncio.create_task(_read(connection, screen, answers))
        try:
            while (line := await _result_or_failure(lines.get(), reading)) is not None:
                if not line.strip():
                    continue
                while not answers.empty():
                    answers.get_nowait()
                expected = await _send_line(line.strip(), connection, screen)
                if not sys.stdin.isatty():
                    await _result_or_failure(
                        _wait_for_answer(line.strip(), expected, connection, screen, answers), reading
                    )
        except TimeoutError:
            raise ChatFailedError(f"no answer within {_ANSWER_SECONDS:g} s") from None
        finally:
            reading.cancel()


async def _wait_for_answer(
    line: str, expected: Answer, connection: ChatConnection, screen: Screen, answers: asyncio.Queue[Answer | Refused]
) -> None:
    """Waits for the answer to a piped line, and repeats the line if it is refused temporarily."""
    for _ in range(_MAX_ATTEMPTS):
        answer = await asyncio.wait_for(answer_to(expected, answers), _ANSWER_SECONDS)
        if not isinstance(answer, Refused):
            return
        if answer.seconds > _ANSWER_SECONDS:
            raise ChatFailedError(f"refused for {answer.seconds:.0f} s")
        await asyncio.sleep(answer.seconds)
        if expected == "message":
            await connection.say(line, answer.identity)
        else:
            expected = await _send_line(line, connection, screen)
    raise ChatFailedError(f"refused {_MAX_ATTEMPTS} times")


async def answer_to(expected: Answer, answers: asyncio.Queue[Answer | Refused]) -> Answer | Refused:
    """Waits for the answer to a line. A message may replace a pending action, whose end is no answer to the message."""
    while (answer := await answers.get()) == "decision" and expected == "message":
        continue
    return answer


async def _send_line(line: str, connection: ChatConnection, screen: Screen) -> Answer:
    parsed = decision(line, screen.pending)
    if parsed is None:
        await connection.say(line)
        return "message"
    kind, action, edits = parsed
    await connection.send(kind, actionId=action, **({"edits": edits} if edits else {}))
    return "decision"


async def _read(connection: ChatConnection, screen: Screen, answers: asyncio.Queue[Answer | Refused]) -> None:
    async for frame in connection.frames():
        pending_before = set(screen.pending)
        screen.show(frame)
        answer: Answer | Refused | None = None
        if frame["type"] == "message.created" and frame["message"]["role"] in FINAL:
            answer = "message"
        elif frame["type"] == "action.updated" and not pending_before <= set(screen.pending):
            answer = "decision"
        elif frame["type"] == "error" and not frame.get("retryable", False):
            answer = "refusal"
        elif frame["type"] == "error" and "ref" in frame:
            answer = Refused(frame["ref"], frame.get("retryAfterMs", 1000) / 1000)
        if answer and not answers.full():
            answers.put_nowait(answer)


T = TypeVar("T")


async def _result_or_failure(work: Coroutine[Any, Any, T], reading: asyncio.Task[None]) -> T:
    """The result of `work`; raises the conversation's error if that ends first."""
    task = asyncio.create_task(work)
    await asyncio.wait([task, reading], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await reading
    return await task


def _lines_of(source: TextIO) -> asyncio.Queue[str | None]:
    """Queue of the typed lines, then None. They are read in a daemon thread, since a blocked read cannot be
    cancelled."""
    loop = asyncio.get_running_loop()
    lines = asyncio.Queue[str | None](maxsize=1000)

    def read() -> None:
        # The loop is closed, or its last work cancelled: no more lines are needed.
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
            for line in source:
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()

    threading.Thread(target=read, daemon=True).start()
    return lines
