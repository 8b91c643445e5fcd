"""The stored row of a document or a question-and-answer pair."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from contracts.ids import uuid7
from contracts.knowledge_rpc import AnswerView, DocumentView
from memory.domain.keys import milliseconds, moment
from memory.knowledge.texts import StemmedDocument

Row = dict[str, Any]
READY, READING, FAILED, GONE = "ready", "reading", "failed", "gone"
ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question-and-answer pair: the ways to ask the question, of which the first is shown, and the answer, which is
    the document's text."""

    questions: tuple[str, ...]
    answer: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """A document's row. `edition` names its current texts, `stems` the version of their stems (texts.STEMS); `version`
    changes with every write. A removed document stays as a row for a while, so that text read earlier does not bring it
    back."""

    id: str
    source: str
    title: str
    read_at: datetime
    updated_at: datetime
    state: str = READY
    url: str | None = None
    external_id: str | None = None
    language: str | None = None
    problem: str | None = None
    hash: str | None = None
    edition: str | None = None
    version: str = ""
    passages: int = 0
    etag: str | None = None
    last_modified: str | None = None
    blocks: tuple[int, ...] = ()
    dropped: int = 0
    pair: Pair | None = None
    stems: int = 1

    @property
    def found(self) -> bool:
        """Whether it has texts that can be found."""
        return self.edition is not None and self.state != GONE

    def document(self) -> StemmedDocument:
        questions = self.pair.questions if self.pair else ()
        return StemmedDocument(
            self.id, self.source, self.title, self.url, self.language, self.hash or "", self.read_at, questions
        )

    def view(self) -> DocumentView:
        return DocumentView(
            id=self.id,
            external_id=self.external_id,
            source=self.source,  # pyright: ignore[reportArgumentType] - an open list
            title=self.title,
            url=self.url,
            language=self.language,
            state=self.state,  # pyright: ignore[reportArgumentType]
            problem=self.problem,
            passages=self.passages,
            hash=self.hash,
            read_at=self.read_at if self.found else None,
            updated_at=self.updated_at,
        )

    def answer(self) -> AnswerView | None:
        """Returns the row as a pair; None if it is not one."""
        if self.pair is None or self.state == GONE:
            return None
        return AnswerView(
            id=self.id,
            question=self.pair.questions[0],
            alternatives=list(self.pair.questions[1:]),
            answer=self.pair.answer,
            language=self.language or "es",
            created_at=self.pair.created_at,
            updated_at=self.updated_at,
        )

    def gone(self, at: datetime) -> "Record":
        """Returns the row of a removed document."""
        return replace(Record(self.id, self.source, self.title, max(at, self.read_at), at, GONE), version=self.version)


def next_edition(previous: Record | None) -> str:
    """Returns a name for texts that replace these. Its number grows with every edition, so that old ones can be
    recognised; concurrent writers use the same number, and the row names only one of them."""
    number = int(previous.edition.partition(".")[0]) if previous is not None and previous.edition else 0
    return f"{number + 1:010d}.{uuid7()}"


def row_of(company: str, record: Record) -> Row:
    """Returns the row to store; lists are sorted by `listKey`, `sourceKey` and `pageKey` (pages of the site by their
    id)."""
    at = milliseconds(record.updated_at)
    row: Row = {
        "_id": f"{company}/{record.id}",
        "version": record.version,
        "source": record.source,
        "title": record.title,
        "state": record.state,
        "readAt": milliseconds(record.read_at),
        "updatedAt": at,
        "passages": record.passages,
        "dropped": record.dropped,
        "blocks": list(record.blocks),
    }
    for name, value in (
        ("url", record.url),
        ("externalId", record.external_id),
        ("language", record.language),
        ("problem", record.problem),
        ("hash", record.hash),
        ("edition", record.edition),
        ("etag", record.etag),
        ("lastModified", record.last_modified),
        ("stems", record.stems if record.stems > 1 else None),
    ):
        if value is not None:
            row[name] = value
    if record.state == GONE:
        return row | {"goneAt": at}
    row["sourceKey"] = f"{company}/{record.source}/{at:013d}/{record.id}"
    if record.pair:
        row["pair"] = {
            "questions": list(record.pair.questions),
            "answer": record.pair.answer,
            "createdAt": milliseconds(record.pair.created_at),
        }
    else:
        row["listKey"] = f"{company}/{at:013d}/{record.id}"
    if record.source == "site":
        row["pageKey"] = f"{company}/{record.id}"
    return row


def record_of(row: Row) -> Record:
    pair: Row | None = row.get("pair")
    return Record(
        id=row["_id"].split("/", 1)[1],
        source=row["source"],
        title=row["title"],
        read_at=moment(row["readAt"]),
        updated_at=moment(row["updatedAt"]),
        state=row["state"],
        url=row.get("url"),
        external_id=row.get("externalId"),
        language=row.get("language"),
        problem=row.get("problem"),
        hash=row.get("hash"),
        edition=row.get("edition"),
        version=row["version"],
        passages=row.get("passages", 0),
        etag=row.get("etag"),
        last_modified=row.get("lastModified"),
        blocks=tuple(row.get("blocks", ())),
        dropped=row.get("dropped", 0),
        stems=row.get("stems", 1),
        pair=Pair(tuple(pair["questions"]), pair["answer"], moment(pair["createdAt"])) if pair else None,
    )
