"""Ids at the door, and the subjects that are built from them."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import channels, ids

BAD = ["", "a.b", "a b", "*", ">", "a/b", "ä", "x" * 65, "a\n", "a\x00"]


@pytest.mark.parametrize("value", BAD)
def test_a_bad_id_becomes_no_subject(value: str) -> None:
    builders = [
        lambda: channels.chat("demo", value, channels.ChatKind.VISITOR),
        lambda: channels.chat(value, "c1", channels.ChatKind.VISITOR),
        lambda: channels.conversation_tree("demo", value),
        lambda: channels.journal("demo", value),
        lambda: channels.tool_request(value),
    ]
    for build in builders:
        with pytest.raises(ids.InvalidIdError):
            build()


def test_a_company_has_no_capitals_and_a_conversation_may() -> None:
    assert channels.conversation_tree("demo", "Abc_-9") == "chat.demo.Abc_-9.>"
    with pytest.raises(ids.InvalidIdError, match="a-z 0-9 -"):
        channels.conversation_tree("Demo", "c1")


@pytest.mark.parametrize("kind", list(channels.ChatKind))
def test_a_chat_subject_comes_apart_as_it_was_built(kind: channels.ChatKind) -> None:
    subject = channels.chat("demo", "c1", kind)
    assert channels.parse_chat(subject) == channels.ChatAddress("demo", "c1", kind)
    assert channels.parse_chat(f"live.{subject}") == channels.ChatAddress("demo", "c1", kind)


@pytest.mark.parametrize("subject", ["", "chat", "chat.demo.c1", "chat.demo.c1.other.v1", "turn.demo.c1.journal.v1"])
def test_another_subject_is_no_chat_subject(subject: str) -> None:
    assert channels.parse_chat(subject) is None


def test_a_fact_of_nobody_ends_in_a_dash() -> None:
    assert channels.fact("usage.recorded.v1", "demo", None) == "usage.recorded.v1.demo.-"
    assert channels.fact("usage.recorded.v1", "demo", "u1") == "usage.recorded.v1.demo.u1"


def test_uuid7_is_version_7_and_grows_with_time() -> None:
    made = [ids.uuid7() for _ in range(1000)]
    assert {uuid.UUID(value).version for value in made} == {7}
    assert len(set(made)) == 1000
    assert [value[:13] for value in made] == sorted(value[:13] for value in made)


@given(st.lists(st.text(min_size=1), min_size=2, max_size=4))
def test_a_derived_id_depends_on_the_parts_and_on_nothing_else(parts: list[str]) -> None:
    assert ids.derive_id(*parts) == ids.derive_id(*parts)
    assert ids.derive_id(*parts) != ids.derive_id(*parts, "more")
    assert uuid.UUID(ids.derive_id(*parts)).version == 8
