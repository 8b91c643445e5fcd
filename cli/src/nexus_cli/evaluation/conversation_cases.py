"""Whole conversations as sets: each turn is a case, tried behind the turns before it and judged as its user would."""

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
    """A message, and what its answer must be."""

    say: str
    expect: Expect


class Conversation(CaseModel):
    """A conversation: who speaks, and what is said in order."""

    about: str
    kind: Literal["visitor", "copilot"] = "copilot"
    language: Literal["es", "en"] = "en"
    plan: Literal["free", "pro", "premium"] = "free"
    turns: list[Turn]


def own_conversations() -> Path:
    """The folder of the conversations that come with the command."""
    return Path(str(files("nexus_cli.evaluation").joinpath("conversations")))


def read_conversations(path: Path) -> list[Case]:
    """The turns of a file, or of every one in a folder, as cases named `file-1`, `file-2`.

    Raises:
        BadCaseError: there is none, or one that cannot be read.
    """
    found = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not found:
        raise BadCaseError(f"{path} holds no conversations: *.toml, one each")
    return [case for file in found for case in _cases(file)]


def _cases(file: Path) -> list[Case]:
    told = read_toml(file, Conversation)
    who = told.model_dump(exclude={"turns"})
    said = [turn.say for turn in told.turns]
    return [
        Case.model_validate({**who, "id": f"{file.stem}-{at}", "say": said[:at], "expect": turn.expect})
        for at, turn in enumerate(told.turns, start=1)
    ]


def verdict(result: Result) -> Verdict | None:
    """Judges an answer; None if it could not be tried. What holds is acceptable; else an answer that says that it does
    not know is no wrong one."""
    if result.passed is None:
        return None
    return "acceptable" if result.passed else "unknown" if is_unknown(result.text) else "wrong"


def counted(results: Sequence[Result]) -> dict[Verdict, int]:
    """Counts the answers that are acceptable, unknown and wrong."""
    found = Counter(map(verdict, results))
    return {one: found[one] for one in VERDICTS}
