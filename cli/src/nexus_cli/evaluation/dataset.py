"""Datasets for recall: dated conversations, and questions with the messages that answer them.

The form is described in docs/architecture/memory.md. LoCoMo's own files (https://github.com/snap-research/locomo) are
read as they are, with their sessions under `conversation` or beside `qa`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

Json = Mapping[str, object]
UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
"""The day of a first session that has no date; each further one is a day later."""
MOST_BYTES = 512 * 1024 * 1024
_SESSION = re.compile(r"session_(\d+)")
_LOCOMO_ID = re.compile(r"D:?(\d+):0*(\d+)")
_LOCOMO_DATES = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%d %B %Y", "%B %d, %Y")


class BadDatasetError(Exception):
    """The file is not a dataset; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class DatasetMessage:
    """One message of a session."""

    id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question, and the ids of all messages that answer it."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(slots=True)
class DatasetCase:
    """One person's conversations, and what is asked about them."""

    name: str
    sessions: list[list[DatasetMessage]] = field(default_factory=list[list[DatasetMessage]])
    questions: list[RecallQuestion] = field(default_factory=list[RecallQuestion])
    undated: int = 0
    unknown: int = 0
    """Evidence that names no message."""
    left_out: int = 0
    """Questions with no evidence that names a message: nothing can be measured by them."""


def read(path: Path) -> list[DatasetCase]:
    """The cases of a file.

    Raises:
        BadDatasetError: it cannot be read, is no JSON, or holds no question with evidence.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadDatasetError(f"{path} is larger than {MOST_BYTES // 1024 // 1024} MiB: split it")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadDatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadDatasetError(f"{path} is not JSON: {error}") from error
    cases = [_case(entry, where) for entry, where in _entries(content)]
    if not any(case.questions for case in cases):
        raise BadDatasetError(
            f"{path} holds no question whose evidence names a message; the format is in docs/architecture/memory.md"
        )
    return cases


def _entries(content: object) -> Iterator[tuple[Json, str]]:
    if isinstance(content, dict) and "conversations" in content:
        content = cast("Json", content)["conversations"]
    every = cast("list[object]", content if isinstance(content, list) else [content])
    for number, entry in enumerate(every):
        yield _object(entry, f"conversation {number}"), f"conversation {number}"


def _case(entry: Json, where: str) -> DatasetCase:
    case = DatasetCase(name=str(entry.get("id") or entry.get("sample_id") or where))
    if "sessions" in entry:
        _own_sessions(case, entry, where)
    else:
        _locomo_sessions(case, entry, where)
    known = {message.id for session in case.sessions for message in session}
    if len(known) < sum(map(len, case.sessions)):
        raise BadDatasetError(f"{where}: two messages have the same id; ids are unique within a conversation")
    asked = entry.get("questions", entry.get("qa"))
    for number, given in enumerate(_list(asked, f"{where}: questions")):
        _ask(case, _object(given, f"{where}, question {number}"), known, f"{where}, question {number}")
    return case


def _own_sessions(case: DatasetCase, entry: Json, where: str) -> None:
    for number, given in enumerate(_list(entry["sessions"], f"{where}: sessions"), 1):
        here = f"{where}, session {number}"
        session = _object(given, here)
        at = _dated(case, session.get("date"), number)
        messages = _list(session.get("messages"), f"{here}: messages")
        _take(case, messages, here, at, lambda place, number=number: f"D{number}:{place}")


def _locomo_sessions(case: DatasetCase, entry: Json, where: str) -> None:
    talk = _object(entry.get("conversation", entry), f"{where}: conversation")
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    if not numbers:
        raise BadDatasetError(f"{where} has neither `sessions` nor `session_1`; see docs/architecture/memory.md")
    for number in numbers:
        here = f"{where}, session_{number}"
        at = _dated(case, talk.get(f"session_{number}_date_time"), number)
        messages = _list(talk[f"session_{number}"], here)
        _take(case, messages, here, at, lambda place, number=number: f"D{number}:{place}")


def _take(case: DatasetCase, given: list[object], where: str, at: datetime, name: Callable[[int], str]) -> None:
    messages: list[DatasetMessage] = []
    for place, one in enumerate(given, 1):
        said = _object(one, f"{where}, message {place}")
        text = said.get("text")
        if not isinstance(text, str):
            raise BadDatasetError(f"{where}, message {place} has no text")
        caption = said.get("blip_caption")
        identity = str(said.get("id") or said.get("dia_id") or name(place))
        own = _date(said.get("date"))
        whole = f"{text} {caption}" if isinstance(caption, str) else text
        messages.append(DatasetMessage(identity, str(said.get("speaker") or "user"), whole, own or at))
    case.sessions.append(messages)


def _ask(case: DatasetCase, given: Json, known: set[str], where: str) -> None:
    text = given.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadDatasetError(f"{where} has no text under `question`")
    evidence = given.get("evidence", [])
    named = [str(one) for one in cast("list[object]", evidence if isinstance(evidence, list) else [evidence])]
    found: set[str] = set()
    for one in named:
        hits = _ids(one, known)
        found |= hits
        case.unknown += not hits
    if found:
        case.questions.append(RecallQuestion(text, frozenset(found), str(given.get("category", "-"))))
    else:
        case.left_out += 1


def _ids(named: str, known: set[str]) -> set[str]:
    """The messages that a piece of evidence names: one id, or several in one text."""
    if named.strip() in known:
        return {named.strip()}
    parts = {part for part in re.split(r"[\s,;]+", named) if part}
    parts |= {f"D{match[1]}:{match[2]}" for match in _LOCOMO_ID.finditer(named)}
    return parts & known


def _dated(case: DatasetCase, given: object, number: int) -> datetime:
    found = _date(given)
    if found is None:
        case.undated += 1
    return found or UNDATED + timedelta(days=number - 1)


def _date(given: object) -> datetime | None:
    """A date as ISO 8601, as LoCoMo writes it, or as seconds since the epoch; None: it is none of these."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return datetime.fromtimestamp(given, UTC)
        except (OverflowError, OSError, ValueError):
            return None
    if not isinstance(given, str):
        return None
    text = given.strip()
    for form in (None, *_LOCOMO_DATES):
        try:
            found = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _object(given: object, where: str) -> Json:
    if not isinstance(given, dict):
        raise BadDatasetError(f"{where} is not an object; the format is in docs/architecture/memory.md")
    return cast("Json", given)


def _list(given: object, where: str) -> list[object]:
    if not isinstance(given, list):
        raise BadDatasetError(f"{where} is not a list; the format is in docs/architecture/memory.md")
    return cast("list[object]", given)
