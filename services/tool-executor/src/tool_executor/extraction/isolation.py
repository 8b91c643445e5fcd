"""Reads documents in a separate process with limited time and memory.

A malicious file can make libraries for PDF and DOCX hang, use all memory or crash. Whoever sends such a file gets a
clear error, and nothing else is affected. Small HTML pages do not need this: their reader takes linear time.
"""

import asyncio
import json
import sys
from typing import Any

from contracts.knowledge import Block
from contracts.text import Text
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.formats import HTML_TYPES, extract, type_of
from tool_executor.texts import TEXTS

_AT_ONCE = 64 * 1024
"""Bytes of HTML that are read on the event loop (some milliseconds)."""
_IN_A_THREAD = 1024 * 1024
_SECONDS = 60.0
"""Seconds for a document that is read in a process of its own; then the process is killed."""
_MEMORY = 1024 * 1024 * 1024
_PROCESSES = 2
"""The most such processes at once; further documents wait."""


class Extraction:
    """One for the process."""

    def __init__(self, *, seconds: float = _SECONDS, memory: int = _MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._places = asyncio.Semaphore(_PROCESSES)

    async def extract(self, body: bytes, declared: str = "", charset: str | None = None, name: str = "") -> Extracted:
        """A document's words. Raises UnreadableError, with reason too_slow or crashed besides those of
        formats.extract."""
        if type_of(body, declared, name) in HTML_TYPES and len(body) <= _IN_A_THREAD:
            if len(body) <= _AT_ONCE:
                return extract(body, declared, charset, name)
            return await asyncio.to_thread(extract, body, declared, charset, name)
        async with self._places:
            return await self._apart(body, declared, charset, name)

    async def _apart(self, body: bytes, declared: str, charset: str | None, name: str) -> Extracted:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tool_executor.extraction",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        head = json.dumps(
            {"declared": declared, "charset": charset, "name": name, "memory": self._memory, "seconds": self._seconds}
        )
        try:
            async with asyncio.timeout(self._seconds):
                answer, _ = await process.communicate(head.encode() + b"\n" + body)
        except TimeoutError:
            raise UnreadableError("too_slow", TEXTS["document.too_slow"].format(seconds=self._seconds)) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            return _read(json.loads(answer))
        except ValueError:
            raise UnreadableError("crashed", TEXTS["document.crashed"]) from None


def _read(answer: dict[str, Any]) -> Extracted:
    if "reason" in answer:
        raise UnreadableError(str(answer["reason"]), Text(**answer["text"]))
    fields: dict[str, object] = {**answer, "blocks": [Block.model_validate(one) for one in answer["blocks"]]}  # pyright: ignore
    return Extracted(**fields)  # pyright: ignore
