"""Who asks for their own name, in whatever words."""

import pytest

from agent.domain.text_features import plain
from agent.turns.composer import ASKS_NAME


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("whats my name", True), ("What's my name?", True), ("who am I?", True), ("¿cuál es mi nombre?", True),
        ("¿cómo me llamo?", True), ("what's my wife's name?", False), ("what is the name of my broker?", False),
    ],
)  # fmt: skip
def test_ones_name_is_asked_for(question: str, asks: bool) -> None:
    assert bool(ASKS_NAME.search(plain(question).strip(" ?!."))) is asks
