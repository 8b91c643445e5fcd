from contracts.ids import is_id
from gateway.domain.conversation_ids import is_issued_to, new_conversation_id

KEY = b"a key"


def test_an_id_is_recognised_for_whom_it_was_made_and_for_nobody_else() -> None:
    made = new_conversation_id(KEY, "acme", "v_1")
    assert is_id(made)
    assert is_issued_to([KEY], "acme", "v_1", made)
    assert not is_issued_to([KEY], "acme", "v_2", made)
    assert not is_issued_to([KEY], "other", "v_1", made)
    assert is_issued_to([b"another key", KEY], "acme", "v_1", made)
    assert not is_issued_to([b"another key"], "acme", "v_1", made)


def test_a_changed_or_foreign_id_is_not_recognised() -> None:
    made = new_conversation_id(KEY, "acme", "v_1")
    changed = ("0" if made[0] != "0" else "1") + made[1:]
    for other in (changed, made[:-1], made + "0", "c1", "", "_", "ñ_ñ"):
        assert not is_issued_to([KEY], "acme", "v_1", other)


def test_ids_are_all_different() -> None:
    assert len({new_conversation_id(KEY, "acme", "v_1") for _ in range(1000)}) == 1000
