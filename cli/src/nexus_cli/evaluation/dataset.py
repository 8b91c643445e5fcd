"""Datasets for recall: dated conversations, and questions with the messages that answer them.

The form is described in docs/architecture/memory.md. LoCoMo's own files (https://github.com/snap-research/locomo) are
read as they are, with their sessions under `conversation` or beside `qa`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from nexus_cli.errors import CommandFailedError

Json = Mapping[str, object]
UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
"""Date of the first session if it has none; each later undated session is a day after the one before."""
MAX_BYTES = 512 * 1024 * 1024
_SESSION = re.compile(r"session_(\d+)")
_LOCOMO_ID = re.compile(r"D:?(\d+):0*(\d+)")
_LOCOMO_DATES = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%d %B %Y", "%B %d, %Y")


class BadDatasetError(CommandFailedError):
    """The file is not a dataset. The message names the place in the file and what to do."""


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
    """One person's conversations, and the questions about them."""

    name: str
    sessions: list[list[DatasetMessage]] = field(default_factory=list[list[DatasetMessage]])
    questions: list[RecallQuestion] = field(default_factory=list[RecallQuestion])
    undated: int = 0
    unknown: int = 0
    """References of evidence that match no message."""
    left_out: int = 0
    """Questions of which no evidence matches a message; they are not measured."""


def read(path: Path) -> list[DatasetCase]:
    """Reads the cases of a file.

    Raises:
        BadDatasetError: the file cannot be read, is not JSON, or has no question with evidence.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadDatasetError(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB: split it")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadDatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadDatasetError(f"{path} is not JSON: {error}") from error
    cases = [_case(entry, location) for entry, location in _entries(content)]
    if not any(case.questions for case in cases):
        raise BadDatasetError(
            f"{path} holds no question whose evidence names a message; the format is in docs/architecture/memory.md"
        )
    return cases


def _entries(content: object) -> Iterator[tuple[Json, str]]:
    if isinstance(content, dict) and "conversations" in content:
        content = cast("Json", content)["conversations"]
    entries = cast("list[object]", content if isinstance(content, list) else [content])
    for number, entry in enumerate(entries):
        yield _object(entry, f"conversation {number}"), f"conversation {number}"


def _case(entry: Json, location: str) -> DatasetCase:
    case = DatasetCase(name=str(entry.get("id") or entry.get("sample_id") or location))
    for session in _sessions(entry, location):
        _add_session(case, *session)
    message_ids = {message.id for session in case.sessions for message in session}
    if len(message_ids) < sum(map(len, case.sessions)):
        raise BadDatasetError(f"{location}: two messages have the same id; ids are unique within a conversation")
    questions = entry.get("questions", entry.get("qa"))
    for number, question in enumerate(_list(questions, f"{location}: questions")):
        place = f"{location}, question {number}"
        _add_question(case, _object(question, place), message_ids, place)
    return case


def _sessions(entry: Json, location: str) -> Iterator[tuple[int, str, object, list[object]]]:
    """Yields the sessions of our form or of LoCoMo's: number, place in the file, date and messages."""
    if "sessions" in entry:
        for number, content in enumerate(_list(entry["sessions"], f"{location}: sessions"), 1):
            place = f"{location}, session {number}"
            session = _object(content, place)
            yield number, place, session.get("date"), _list(session.get("messages"), f"{place}: messages")
        return
    sessions = _object(entry.get("conversation", entry), f"{location}: conversation")
    numbers = sorted(int(match[1]) for key in sessions if (match := _SESSION.fullmatch(key)))
    if not numbers:
        raise BadDatasetError(f"{location} has neither `sessions` nor `session_1`; see docs/architecture/memory.md")
    for number in numbers:
        place = f"{location}, session_{number}"
        yield number, place, sessions.get(f"session_{number}_date_time"), _list(sessions[f"session_{number}"], place)


def _add_session(case: DatasetCase, number: int, location: str, date: object, entries: list[object]) -> None:
    session_date = _parse_date(date)
    case.undated += session_date is None
    messages: list[DatasetMessage] = []
    for position, entry in enumerate(entries, 1):
        message = _object(entry, f"{location}, message {position}")
        text = message.get("text")
        if not isinstance(text, str):
            raise BadDatasetError(f"{location}, message {position} has no text")
        caption = message.get("blip_caption")
        identity = str(message.get("id") or message.get("dia_id") or f"D{number}:{position}")
        at = _parse_date(message.get("date")) or session_date or UNDATED + timedelta(days=number - 1)
        full_text = f"{text} {caption}" if isinstance(caption, str) else text
        messages.append(DatasetMessage(identity, str(message.get("speaker") or "user"), full_text, at))
    case.sessions.append(messages)


def _add_question(case: DatasetCase, entry: Json, message_ids: set[str], location: str) -> None:
    text = entry.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadDatasetError(f"{location} has no text under `question`")
    evidence = entry.get("evidence", [])
    evidence_ids: set[str] = set()
    for reference in cast("list[object]", evidence if isinstance(evidence, list) else [evidence]):
        hits = _referenced_ids(str(reference), message_ids)
        evidence_ids |= hits
        case.unknown += not hits
    if evidence_ids:
        case.questions.append(RecallQuestion(text, frozenset(evidence_ids), str(entry.get("category", "-"))))
    else:
        case.left_out += 1


def _referenced_ids(reference: str, message_ids: set[str]) -> set[str]:
    """Ids of the messages that a reference of evidence names: one id, or several in one text."""
    if reference.strip() in message_ids:
        return {reference.strip()}
    parts = {part for part in re.split(r"[\s,;]+", reference) if part}
    parts |= {f"D{match[1]}:{match[2]}" for match in _LOCOMO_ID.finditer(reference)}
    return parts & message_ids


def _parse_date(value: object) -> datetime | None:
    """Parses a date in ISO 8601, in LoCoMo's form or as seconds since the epoch. None if it is none of these."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            return None
    if not isinstance(value, str):
        return None
    text = value.strip()
    for form in (None, *_LOCOMO_DATES):
        try:
            date = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _object(value: object, location: str) -> Json:
    if not isinstance(value, dict):
        raise BadDatasetError(f"{location} is not an object; the format is in docs/architecture/memory.md")
    return cast("Json", value)


def _list(value: object, location: str) -> list[object]:
    if not isinstance(value, list):
        raise BadDatasetError(f"{location} is not a list; the format is in docs/architecture/memory.md")
    return cast("list[object]", value)
