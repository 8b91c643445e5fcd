"""Windows: never wrong, only old."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.channels import ChatKind
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, Page, VisitorMessage
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.recent import UNSEEN, WINDOW_SIZE, RecentMessages

START = datetime(2026, 5, 1, tzinfo=UTC)
EMPTY = RecentMessages(0, (), is_complete=True)


def message(seq: int, name: str | None = None) -> LogFact:
    data = VisitorMessage(message_id=name or f"m{seq}", client_message_id="c", text=f"text {seq}")
    at = START + timedelta(seconds=seq)
    return LogFact("acme", "c1", ChatKind.VISITOR, LogPosition(1, seq), f"e{seq}", at, at, data, b"")


def owner(seq: int) -> LogFact:
    data = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="x")
    return LogFact("acme", "c1", ChatKind.OWNER, LogPosition(1, seq), f"e{seq}", START, START, data, b"")


sequences = st.lists(st.integers(1, 400), min_size=1, max_size=120, unique=True).map(sorted)


@settings(deadline=None)
@given(sequences, st.data())
def test_however_a_window_grew_it_is_the_same(seqs: list[int], data: st.DataObject) -> None:
    facts = [message(seq) if seq % 5 else owner(seq) for seq in seqs]
    end = seqs[-1]
    window = EMPTY
    for stop in [*sorted(data.draw(st.lists(st.integers(1, end), max_size=5))), end]:
        if stop > window.up_to:
            # Reads overlap: a fact that is in the window already is given again.
            window = window.extended([fact for fact in facts if fact.seq <= stop], stop)
    assert window == EMPTY.extended(facts, end)


@settings(deadline=None)
@given(sequences, st.integers(1, WINDOW_SIZE), st.integers(0, 400))
def test_a_window_gives_exactly_what_is_asked_for_or_says_that_it_cannot(
    seqs: list[int], limit: int, up_to: int
) -> None:
    window = EMPTY.extended([message(seq) for seq in seqs], seqs[-1])
    expected = [seq for seq in seqs if seq <= up_to][-limit:]
    found = window.last(limit, up_to)
    if found is None:
        assert len(seqs) > WINDOW_SIZE
    else:
        assert [each.seq for each in found] == expected


def test_a_copy_of_a_message_is_shown_once() -> None:
    window = EMPTY.extended([message(1, "same"), message(2, "same"), message(3)], 3)
    assert [each.seq for each in window.messages] == [1, 3]


def test_messages_of_an_earlier_log_come_first_whatever_their_sequence() -> None:
    window = RecentMessages(0, EMPTY.extended([message(900)], 900).messages, is_complete=True).extended([message(2)], 2)
    found = window.last(20, 2)
    assert found is not None
    assert [each.seq for each in found] == [900, 2]


def test_the_pages_of_a_visit_are_those_before_the_chat_and_those_written_from_each_once() -> None:
    def wrote(path: str, *visited: str) -> VisitorMessage:
        page = Page(url=path, title=f"Title of {path}")
        return VisitorMessage(message_id="m", client_message_id="c", text="hi", page=page, visited=[*visited] or None)

    seen = UNSEEN
    for said in (wrote("/pricing", "/", "/pricing"), wrote("/help"), wrote("/", "/", "/pricing", "/blog")):
        seen = seen.after(said, START)
    pages = [(page.url, page.title) for page in seen.profile.pages or ()]
    titled = [("/pricing", "Title of /pricing"), ("/help", "Title of /help"), ("/blog", None), ("/", "Title of /")]
    assert pages == titled
    many = wrote("/end", *(f"/{number}" for number in range(20)))
    kept = UNSEEN.after(many, START).profile.pages or []
    assert (len(kept), kept[-1].url) == (20, "/end")
