from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from agent.domain.turn.journal import Journal
from agent.errors import UnreachableError
from agent.ports import AskedSnapshot, ConversationKey, Requester
from agent.turns.deps import Ports
from agent.turns.look import log_and_journal
from contracts.conversation import snapshot_of

KEY = ConversationKey("acme", "c1")


@dataclass
class Log:
    """A log whose first answer is older than its end; `end` is the newest that any replica has."""

    end: int
    asked: list[int] = field(default_factory=list[int])

    async def look(self, key: ConversationKey, at_least: int) -> AskedSnapshot:
        del key
        self.asked.append(at_least)
        if at_least > self.end:
            raise UnreachableError("behind")
        return AskedSnapshot(snapshot_of([], max(at_least, 1)), Requester(None, "visitor", "free", None, "en"))


class Journals:
    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        del key
        return Journal("t2", 2, started_at=0.0, deadline=120.0), 7


def ports(log: Log) -> Ports:
    return cast("Ports", SimpleNamespace(chat=log, journals=Journals()))


async def test_a_view_that_is_older_than_the_journal_is_read_again() -> None:
    log = Log(end=2)
    seen, found, revision = await log_and_journal(ports(log), KEY, 1)
    assert (seen.view.seq, found and found.basis, revision) == (2, 2, 7)
    assert log.asked == [1, 2]


async def test_a_journal_that_outlived_its_log_stands_in_nobodys_way() -> None:
    seen, _, revision = await log_and_journal(ports(Log(end=1)), KEY, 1)
    assert (seen.view.seq, revision) == (1, 7)
