"""Removes the thoughts of reasoning models from the beginning of an answer: <think>…</think>.

It also holds back an answer that begins as a tool call written as text (written_calls.py), which people must not see.
"""

BEGIN, END = "<think>", "</think>"
CALLS = ("<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "<function=")


class OpeningThoughts:
    """Removes the thoughts from the beginning of a text that arrives in pieces. `over`: the answer has begun, and every
    further piece belongs to it."""

    __slots__ = ("_inside", "_pending", "_thought", "over")

    def __init__(self) -> None:
        self._pending = ""
        self._inside = self._thought = False
        self.over = False

    @property
    def found(self) -> bool:
        """Whether the text begins with thoughts."""
        return self._thought or self._inside

    def heard(self, piece: str) -> str:
        """The new part of the text that people may read."""
        if self.over:
            return piece
        pending = self._pending + piece
        while True:
            if self._inside:
                _, end, after = pending.partition(END)
                if not end:
                    self._pending = pending[1 - len(END) :]
                    return ""
                pending, self._inside, self._thought = after, False, True
            beginning = pending.lstrip()
            if beginning.startswith(CALLS) or any(mark.startswith(beginning) for mark in (BEGIN, *CALLS)):
                self._pending = pending
                return ""
            if not beginning.startswith(BEGIN):
                self.over = True
                # The blank lines between a thought and an answer are dropped.
                return beginning if self._thought else pending
            pending, self._inside = beginning[len(BEGIN) :], True

    def rest(self) -> str:
        """The text that was held back because it is, or might have become, a thought or a tool call; called at the
        end."""
        return "" if self._inside or self.over else self._pending.lstrip() if self._thought else self._pending
