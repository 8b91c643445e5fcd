"""Reads documents in a separate process with limited time and memory.

A malicious file can make libraries for PDF and DOCX hang, use all memory or crash. Whoever sends such a file gets a
clear error, and nothing else is affected. Small HTML pages are read in a thread: their reader takes linear time.
"""

import asyncio
import json
import sys
from typing import Any

from contracts.text import Text
from tool_executor.extraction.document import EXTRACTED, Extracted, UnreadableError
from tool_executor.extraction.formats import HTML_TYPES, extract, type_of
from tool_executor.texts import TEXTS

_MAX_THREAD_BYTES = 1024 * 1024
"""The most bytes of HTML that are read in a thread."""
_TIMEOUT_SECONDS = 60.0
"""Seconds after which a process that reads a document is killed."""
_MEMORY_BYTES = 1024 * 1024 * 1024
_MAX_PROCESSES = 2
"""The most processes at the same time; further documents wait."""


class Extraction:
    """Reads documents, at most _MAX_PROCESSES at the same time in processes; a service has one of these."""

    def __init__(self, *, seconds: float = _TIMEOUT_SECONDS, memory: int = _MEMORY_BYTES) -> None:
        self._seconds = seconds
        self._memory = memory
        self._process_slots = asyncio.Semaphore(_MAX_PROCESSES)

    async def extract(self, body: bytes, declared: str = "", charset: str | None = None, name: str = "") -> Extracted:
        """Returns the content of a document.

        Raises:
            UnreadableError: with reason too_slow, crashed, or one of those of formats.extract.
        """
        if type_of(body, declared, name) in HTML_TYPES and len(body) <= _MAX_THREAD_BYTES:
            return await asyncio.to_thread(extract, body, declared, charset, name)
        async with self._process_slots:
            return await self._extract_in_process(body, declared, charset, name)

    async def _extract_in_process(self, body: bytes, declared: str, charset: str | None, name: str) -> Extracted:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tool_executor.extraction",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        options = json.dumps(
            {"declared": declared, "charset": charset, "name": name, "memory": self._memory, "seconds": self._seconds}
        )
        try:
            async with asyncio.timeout(self._seconds):
                answer, _ = await process.communicate(options.encode() + b"\n" + body)
        except TimeoutError:
            raise UnreadableError("too_slow", TEXTS["document.too_slow"].format(seconds=self._seconds)) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            return await asyncio.to_thread(_parse_answer, answer)
        except ValueError:
            raise UnreadableError("crashed", TEXTS["document.crashed"]) from None


def _parse_answer(written: bytes) -> Extracted:
    answer: dict[str, Any] = json.loads(written)
    if "reason" in answer:
        raise UnreadableError(str(answer["reason"]), Text(**answer["text"]))
    return EXTRACTED.validate_python(answer)
