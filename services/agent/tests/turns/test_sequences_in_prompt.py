"""search_memory is told which messages the prompt holds, and will hold with the result of the search behind it."""

import pytest

from agent.domain.context.compression import DEFAULT_WINDOW, Compressed, PromptDraft, PromptMessage
from agent.turns.composer import sequences_in_prompt

HISTORY = tuple(PromptMessage(False, f"message {number}", number) for number in range(1, 31))


@pytest.mark.parametrize(("tokens", "first"), [(0, 11), (3_000, 11), (3_001, 26), (5_900, 26)])
def test_what_a_result_would_push_out_of_the_prompt_is_not_left_out_of_it(tokens: int, first: int) -> None:
    compressed = Compressed(PromptDraft(HISTORY), [], tokens, tokens)
    assert sequences_in_prompt(compressed, DEFAULT_WINDOW.compress_above) == (first, 30)
