"""Whole conversations as cases: each turn is a case that is tried after the turns before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from agent.domain.offline.answers import is_unknown
from nexus_cli.evaluation.cases import BadCaseError, Case, CaseModel, Expect, read_toml
from nexus_cli.evaluation.runner import Result

Verdict = Literal["acceptable", "unknown", "wrong"]
VERDICTS: tuple[Verdict, ...] = ("acceptable", "unknown", "wrong")


class Turn(CaseModel):
    """A message, and the expectations of its answer."""

    say: str
    expect: Expect


class Conversation(CaseModel):
    """A conversation: its user's role, language and plan, and their messages in order."""

    about: str
    kind: Literal["visitor", "copilot"] = "copilot"
    language: Literal["es", "en"] = "en"
    plan: Literal["free", "pro", "premium"] = "free"
    turns: list[Turn]


def own_conversations() -> Path:
    """The folder of the conversations that come with the command."""
    return Path(str(files("nexus_cli.evaluation").joinpath("conversations")))


def read_conversations(path: Path) -> list[Case]:
    """Reads a conversation, or all of a folder, as one case for each turn, named `file-1`, `file-2`.

    Raises:
        BadCaseError: there is no conversation, or one cannot be read.
    """
    paths = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not paths:
        raise BadCaseError(f"{path} holds no conversations: *.toml, one each")
    return [case for file in paths for case in _cases(file)]


def _cases(file: Path) -> list[Case]:
    conversation = read_toml(file, Conversation)
    shared_fields = conversation.model_dump(exclude={"turns"})
    messages = [turn.say for turn in conversation.turns]
    return [
        Case.model_validate(
            {**shared_fields, "id": f"{file.stem}-{number}", "say": messages[:number], "expect": turn.expect}
        )
        for number, turn in enumerate(conversation.turns, start=1)
    ]


def verdict(result: Result) -> Verdict | None:
    """Judges an answer: acceptable if it passed, else unknown if it says that it does not know, else wrong. None if the
    case could not be tried."""
    if result.passed is None:
        return None
    return "acceptable" if result.passed else "unknown" if is_unknown(result.text) else "wrong"


def counted(results: Sequence[Result]) -> dict[Verdict, int]:
    """Counts the answers that are acceptable, unknown and wrong."""
    counts = Counter(map(verdict, results))
    return {kind: counts[kind] for kind in VERDICTS}
