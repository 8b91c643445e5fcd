"""Records what a real model proposed for `nexus eval memory`, and replays it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any, Self, cast

import aiohttp

from agent.adapters.model_router import configured_router
from agent.domain.prompt.proposals import parse_proposals, proposal_messages
from agent.errors import ModelError
from agent.llm.paid_calls import UnreadText
from agent.ports import ModelRequest
from agent.settings import ModelSettings
from agent.turns.after_turn import MODEL_TIMEOUT_SECONDS
from agent.turns.proposer import MAX_RESPONSE_TOKENS
from contracts.languages import language_of_tags
from contracts.proposal_rpc import FactProposal, ProposalGround
from nexus_cli.errors import CommandFailedError
from nexus_cli.evaluation.memory_cases import MemoryCase


class NoRecordingError(CommandFailedError):
    """The file has no recorded answers, or none to this prompt. The message says which."""


class Recording:
    """Replays the recorded answers of a model, from a file {model, answers: {name of the prompt: answer}}."""

    def __init__(self, path: Path) -> None:
        try:
            data: Any = json.loads(path.read_bytes())
            self._answers = cast("dict[str, str]", data["answers"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoRecordingError(
                f"{path} holds no answers of a model ({error}): record them with --record"
            ) from error
        self._path = path

    def __call__(self, case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
        try:
            return parse_proposals(self._answers[prompt_name(case, ground)]) or []
        except KeyError:
            messages = "; ".join(case.said[: turn + 1])
            raise NoRecordingError(
                f"{self._path} has no answer to “{messages}”: record it again with --record"
            ) from None


class Recorder:
    """Asks the model of the environment (NEXUS_LLM_…, keys) and records its answers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()
        self._session = self._loop.run_until_complete(_session())
        self._models = configured_router(ModelSettings(), self._session)
        self._model = ""

    def __call__(self, case: MemoryCase, turn: int, ground: ProposalGround) -> list[FactProposal]:
        del turn
        name = prompt_name(case, ground)
        if name not in self._answers:
            self._answers[name] = self._loop.run_until_complete(self._answer(case, ground))
        return parse_proposals(self._answers[name]) or []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Writes the answers and closes the connection to the model."""
        if self._answers:
            data = {"model": self._model, "answers": self._answers}
            self._path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        self._loop.run_until_complete(self._session.close())
        self._loop.close()

    async def _answer(self, case: MemoryCase, ground: ProposalGround) -> str:
        (model, name), *_ = self._models.chosen("", "").candidates
        if model.provider == "offline":
            raise NoRecordingError("no model is configured: set NEXUS_LLM_BASE_URL and NEXUS_LLM_MODEL, or a key")
        self._model = name
        prompt = ModelRequest(
            messages=proposal_messages(ground, language_of_tags(case.language)),
            tools=(),
            tool_choice="none",
            model=name,
            temperature=0.0,
            max_tokens=MAX_RESPONSE_TOKENS,
            time_limit=MODEL_TIMEOUT_SECONDS,
        )
        try:
            return (await model.reply(prompt, UnreadText())).text
        except ModelError as error:
            raise NoRecordingError(f"{name} did not answer: {error}") from error


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()


def prompt_name(case: MemoryCase, ground: ProposalGround) -> str:
    """Short name of the prompt about a case: a part of its hash."""
    messages = proposal_messages(ground, language_of_tags(case.language))
    return hashlib.sha256(str(messages[-1]["content"]).encode()).hexdigest()[:16]
