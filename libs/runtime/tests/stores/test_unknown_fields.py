"""What a newer release wrote into a document stays there, at every depth, and nothing else does."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contracts.json_values import JsonObject
from runtime.stores.unknown_fields import UnknownFields, with_unknown_content

STORED = {"cash": "1", "mood": 1, "orders": [{"id": "a", "qty": 1, "tag": "x"}, {"id": "b", "new": True}], "due": 5}
READ = {"cash": "1", "orders": [{"id": "a", "qty": 1}], "due": 5}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcid"), inner, max_size=3),
    max_leaves=12,
)


def test_a_change_keeps_fields_and_elements_that_were_not_read() -> None:
    unknown = UnknownFields()
    unknown.record("doc", 1, STORED, READ)
    written: JsonObject = {"cash": "2", "orders": [{"id": "a", "qty": 2}, {"id": "c", "qty": 9}]}
    assert unknown.with_them("doc", 1, written) == {
        "cash": "2",
        "mood": 1,
        "orders": [{"id": "a", "qty": 2, "tag": "x"}, {"id": "c", "qty": 9}, {"id": "b", "new": True}],
    }
    assert unknown.with_them("doc", 2, written) == written
    assert unknown.with_them("other", 1, written) == written


def test_a_field_that_this_release_decides_on_is_not_kept() -> None:
    unknown = UnknownFields(["due"])
    unknown.record("doc", 1, {"due": 5, "mood": 1}, {})
    assert unknown.with_them("doc", 1, {}) == {"mood": 1}


@given(VALUES, VALUES)
def test_with_nothing_unknown_what_is_written_is_stored(read: Any, written: Any) -> None:
    assert _same(with_unknown_content(read, read, written), written)


@given(VALUES, VALUES)
def test_what_nobody_changed_stays_as_it_is_stored(stored: Any, read: Any) -> None:
    assert with_unknown_content(stored, read, read) == stored


def _same(one: Any, other: Any) -> bool:
    return one == other
