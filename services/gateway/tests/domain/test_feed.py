import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.feed import MAX_BUFFERED, Feed, FeedOverflowError


def frame(seq: int) -> bytes:
    return str(seq).encode()


@given(
    log=st.lists(st.integers(1, 50), min_size=1, unique=True).map(sorted),
    snapshot=st.integers(0, 50),
    since=st.integers(0, 50),
    early=st.integers(0, 50),
    late=st.integers(0, 50),
    repeated=st.booleans(),
)
def test_every_fact_comes_once_and_in_order_however_reading_and_live_overlap(
    log: list[int], snapshot: int, since: int, early: int, late: int, repeated: bool
) -> None:
    """The live feed begins anywhere up to the snapshot, and may bring again what the reading brought."""
    begin = min(early, snapshot) + 1
    feed = Feed()
    feed.cursor = since
    sent: list[int] = []
    live = [seq for seq in log if seq >= begin] * (2 if repeated else 1)
    during = sorted(seq for seq in live if seq <= late)
    for seq in during:
        assert not feed.accept_fact(seq, frame(seq))
    sent += [seq for seq in log if since < seq <= snapshot and feed.accept_read_fact(seq)]
    sent += [int(one) for one in feed.finish_reading(snapshot)]
    sent += [seq for seq in sorted(live) if seq > late and feed.accept_fact(seq, frame(seq))]
    assert sent == [seq for seq in log if seq > max(since, 0) and (seq > snapshot or seq > since)]


def test_deltas_that_the_text_so_far_holds_are_not_sent_again() -> None:
    feed = Feed()
    for number in range(4):
        feed.accept_sign(frame(number), turn="t", delta_seq=number)
    feed.accept_sign(b"other", turn="u", delta_seq=0)
    assert feed.finish_reading(0, turn="t", delta_seq=2) == [b"3", b"other"]


def test_without_a_known_turn_everything_live_follows_in_its_order() -> None:
    feed = Feed()
    feed.accept_sign(b"started")
    feed.accept_sign(b"delta", turn="t", delta_seq=0)
    feed.accept_fact(5, b"answer")
    assert feed.finish_reading(4) == [b"started", b"delta", b"answer"]


def test_signs_of_a_turn_whose_final_message_was_read_already_are_not_sent_after_it() -> None:
    feed = Feed()
    feed.accept_sign(b"delta", turn="t", delta_seq=1)
    feed.accept_sign(b"another's", turn="u", delta_seq=0)
    feed.accept_fact(5, b"answer", turn="t")
    feed.accept_sign(b"finished")
    assert feed.finish_reading(5) == [b"another's", b"finished"]


def test_a_paused_feed_holds_back_what_lies_behind_a_hole() -> None:
    feed = Feed()
    feed.finish_reading(3)
    feed.pause()
    feed.start_reading()
    assert not feed.accept_fact(6, b"6")
    assert feed.cursor == 3
    assert [seq for seq in (4, 5, 6) if feed.accept_read_fact(seq)] == [4, 5, 6]
    assert feed.finish_reading(6) == []


def test_what_comes_behind_a_gap_that_opens_during_a_reading_waits_for_the_next_one() -> None:
    feed = Feed()
    feed.accept_fact(3, b"3")
    feed.pause()  # 4 is lost
    feed.accept_fact(5, b"5")
    assert feed.finish_reading(2) == [b"3"]
    assert feed.is_buffering
    feed.start_reading()
    assert feed.accept_read_fact(4)
    assert feed.finish_reading(4) == [b"5"]
    assert not feed.is_buffering


def test_a_feed_that_nobody_follows_does_not_grow_for_ever() -> None:
    feed = Feed()
    for seq in range(MAX_BUFFERED):
        feed.accept_fact(seq + 1, b"")
    with pytest.raises(FeedOverflowError):
        feed.accept_fact(MAX_BUFFERED + 1, b"")
