"""What a conversation's facts say about who must be answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.channels import ChatKind
from contracts.conversation import AnswerRules, Fact, Snapshot, may_answer, snapshot_of
from contracts.events.chat import OwnerKind

AI, WAITING, HUMAN = OwnerKind.AI, OwnerKind.WAITING, OwnerKind.HUMAN
_WORDS = {
    "v": ChatKind.VISITOR,
    "a": ChatKind.ASSISTANT,
    "o": ChatKind.OPERATOR,
    "s": ChatKind.SYSTEM,
    "c": ChatKind.CANCEL,
}


def log(words: str) -> list[Fact]:
    """A log in short: v a visitor writes, o a human agent; a2, s2, c2 an answer, a notice, a cancel with basis 2; ai,
    waiting, human a change of owner. The first fact is at sequence 1."""
    facts: list[Fact] = []
    for seq, word in enumerate(words.split(), start=1):
        if word in set(OwnerKind):
            facts.append(Fact(ChatKind.OWNER, seq, owner=OwnerKind(word)))
        else:
            facts.append(Fact(_WORDS[word[0]], seq, basis=int(word[1:] or 0)))
    return facts


@pytest.mark.parametrize(
    ("words", "newest", "basis", "owner", "unanswered"),
    [
        ("", 0, 0, AI, False),
        ("v", 1, 0, AI, True),
        ("v a1", 1, 1, AI, False),
        ("v v a1", 2, 1, AI, True),  # the answer has not seen the second message, though it stands behind it
        ("v a1 v", 3, 1, AI, True),
        ("v v a2", 2, 2, AI, False),
        ("v s0", 1, 0, AI, True),  # a notice that settles nothing
        ("v s1", 1, 1, AI, False),
        ("v c1", 1, 1, AI, False),
        ("v c1 v", 3, 1, AI, True),
        ("v o", 1, 2, AI, False),  # a person's words settle all before them
        ("v o v", 3, 2, AI, True),
        ("v waiting", 1, 0, WAITING, True),
        ("v human o", 1, 3, HUMAN, False),
        ("v human o v ai", 4, 3, AI, True),  # given back: what nobody answered is due
        ("v c1 human v s1 ai", 4, 1, AI, True),
        ("v o c1", 1, 2, AI, False),  # the greatest of all counts, not the newest
    ],
)
def test_what_is_settled_and_who_answers(
    words: str, newest: int, basis: int, owner: OwnerKind, unanswered: bool
) -> None:
    now = snapshot_of(log(words))
    assert (now.newest_visitor, now.basis, now.owner, now.unanswered) == (newest, basis, owner, unanswered)
    assert now.seq == len(words.split())


def test_what_is_no_fact_counts_for_the_fence_alone() -> None:
    now = snapshot_of(log("v a1"), 7)
    assert (now.seq, now.basis, now.unanswered) == (7, 1, False)
    assert snapshot_of([], 7) == Snapshot(seq=7)


def test_a_cancelled_run_settles_and_is_no_reply() -> None:
    assert [snapshot_of(log(words)).replied for words in ("v c1", "v a1", "v s1", "v o", "v o c1")] == [0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("enabled", "owner", "beside", "answers"),
    [
        (False, AI, True, False),
        (True, AI, False, True),
        (True, HUMAN, True, True),
        (True, HUMAN, False, False),
        (True, WAITING, False, False),
        (True, WAITING, True, True),
    ],
)
def test_who_is_answered(enabled: bool, owner: OwnerKind, beside: bool, answers: bool) -> None:
    assert may_answer(AnswerRules(enabled, beside), owner) is answers


def test_without_settings_nobody_is_answered() -> None:
    assert not may_answer(AnswerRules.of(None), AI)


def test_an_owner_that_only_a_newer_release_knows_is_somebody() -> None:
    changed = Fact.of(ChatKind.OWNER, 1, {"data": {"owner": {"kind": "a robot of tomorrow"}}})
    assert snapshot_of([changed]).owner is HUMAN
    assert not may_answer(AnswerRules(enabled=True), snapshot_of([changed]).owner)


def _lawful(kinds: list[tuple[ChatKind, int]]) -> list[Fact]:
    """A log in which no basis is lower than that of the snapshot that it was decided from, nor beyond what is there."""
    facts: list[Fact] = []
    for seq, (kind, number) in enumerate(kinds, start=1):
        now = snapshot_of(facts)
        basis = 0
        if kind in (ChatKind.ASSISTANT, ChatKind.SYSTEM, ChatKind.CANCEL):
            written = [fact.seq for fact in facts if fact.kind is ChatKind.VISITOR and fact.seq > now.basis]
            basis = ([now.basis, *written])[number % (len(written) + 1)]
        facts.append(Fact(kind, seq, float(seq), basis, tuple(OwnerKind)[number % 3]))
    return facts


lawful = st.lists(st.tuples(st.sampled_from(ChatKind), st.integers(0, 11)), max_size=40).map(_lawful)


@given(lawful)
def test_a_message_is_settled_when_any_fact_settles_it(facts: list[Fact]) -> None:
    """The newest fact of each kind tells as much as the whole log."""
    now = snapshot_of(facts)
    assert now == snapshot_of(now.last.values(), now.seq)
    for message in (fact for fact in facts if fact.kind is ChatKind.VISITOR):
        by_operator = any(fact.kind is ChatKind.OPERATOR and fact.seq > message.seq for fact in facts)
        by_basis = any(fact.kind is not ChatKind.OPERATOR and fact.basis >= message.seq for fact in facts)
        assert (message.seq <= now.basis) is (by_operator or by_basis)
    owners = [fact.owner for fact in facts if fact.kind is ChatKind.OWNER]
    assert now.owner is (owners[-1] if owners else AI)
