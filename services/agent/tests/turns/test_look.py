from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.adapters.chat_log import JetStreamChatLog
from agent.domain.turn.journal import Journal
from agent.errors import UnreachableError
from agent.ports import ConversationKey, Requester, TurnSnapshot
from agent.turns.deps import Ports
from agent.turns.look import read_log_and_journal
from contracts.channels import ChatKind
from contracts.conversation import Fact, snapshot_of
from runtime.conversation import ConversationLog

KEY = ConversationKey("acme", "c1")


@dataclass
class Log:
    """A log whose first answer is older than its end; `end` is the newest that any replica has."""

    end: int
    asked: list[int] = field(default_factory=list[int])

    async def look(self, key: ConversationKey, at_least: int) -> TurnSnapshot:
        self.asked.append(at_least)
        if at_least > self.end:
            raise UnreachableError("behind")
        return TurnSnapshot(snapshot_of([], max(at_least, 1)), Requester(None, "visitor", "free", None, "en"))


class Journals:
    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        return Journal("t2", 2, started_at=0.0, deadline=120.0), 7


def ports(log: Log) -> Ports:
    return cast("Ports", SimpleNamespace(chat=log, journals=Journals()))


async def test_a_view_that_is_older_than_the_journal_is_read_again() -> None:
    log = Log(end=2)
    seen, found, revision = await read_log_and_journal(ports(log), KEY, 1)
    assert (seen.view.seq, found and found.basis, revision) == (2, 2, 7)
    assert log.asked == [1, 2]


@pytest.mark.parametrize(
    ("waiting", "first"),
    [(("m1", "m2"), 12), (("m2", "m1", "m2"), 13), (("m1", "new", "m2"), 12), (("new", "m2"), 11)],
)
async def test_of_several_late_copies_in_a_row_none_counts_as_waiting(waiting: tuple[str, ...], first: int) -> None:
    facts = [Fact(ChatKind.VISITOR, 11 + at, event={"data": {"messageId": one}}) for at, one in enumerate(waiting)]
    answer = Fact(ChatKind.ASSISTANT, 10, basis=9)
    last = facts[-1].seq
    view = replace(snapshot_of([answer, *facts], last), first_unanswered=11)

    async def first_visitor(company: str, conversation: str, after: int) -> Fact | None:
        assert (company, conversation) == KEY
        return next((fact for fact in facts if fact.seq > after), None)

    async def look(key: ConversationKey, at_least: int) -> TurnSnapshot:
        return TurnSnapshot(view, Requester(None, "visitor", "free", None, "en"))

    async def read(key: ConversationKey) -> tuple[Journal, int]:
        return Journal("t2", 9, started_at=0.0, deadline=9.0, message="m2", answer="Yes.", answered=("m1",)), 7

    unused: Any = None
    log = JetStreamChatLog(
        cast("ConversationLog", SimpleNamespace(first_visitor=first_visitor)), unused, unused, unused
    )
    held = SimpleNamespace(
        chat=SimpleNamespace(look=look, behind_copies=log.behind_copies), journals=SimpleNamespace(read=read)
    )
    seen, _, _ = await read_log_and_journal(cast("Ports", held), KEY, 1)
    assert seen.view.first_unanswered == first


async def test_a_journal_that_outlived_its_log_stands_in_nobodys_way() -> None:
    seen, _, revision = await read_log_and_journal(ports(Log(end=1)), KEY, 1)
    assert (seen.view.seq, revision) == (1, 7)
