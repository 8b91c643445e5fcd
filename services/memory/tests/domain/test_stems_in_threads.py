"""Documents are cut up in threads while questions are read: a word's stem is the same in each of them."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

from memory.domain.recall.words import english, spanish

WORDS = [
    begin + end
    for begin, end in product(
        ("comerci", "habl", "present", "organiz", "invert", "relat", "nation", "oper", "compr", "condition"),
        ("aremos", "ándonos", "ación", "aciones", "iéramos", "al", "ally", "ization", "ing", "ed", "ously", "mente"),
    )
]


@pytest.fixture(autouse=True)
def busy_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("stem", [english.__wrapped__, spanish.__wrapped__], ids=["english", "spanish"])
def test_a_stem_is_the_same_in_every_thread(stem: object) -> None:
    assert callable(stem)
    alone = [stem(word) for word in WORDS]

    def again(_: int) -> list[object]:
        return [stem(word) for word in WORDS]

    with ThreadPoolExecutor(8) as threads:
        assert all(found == alone for found in threads.map(again, range(64)))
