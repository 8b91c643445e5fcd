"""Removes the thoughts of reasoning models from the beginning of an answer: <think>…</think>. Also keeps back an answer
that begins as a tool call written as text (written_calls.py), which nobody is to read."""

BEGIN, END = "<think>", "</think>"
CALLS = ("<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "<function=")


class OpeningThoughts:
    """Takes the thoughts off the beginning of a text that comes in pieces. `over`: an answer has begun, and every
    further piece belongs to it."""

    __slots__ = ("_held", "_inside", "_thought", "over")

    def __init__(self) -> None:
        self._held = ""
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
        held = self._held + piece
        while True:
            if self._inside:
                _, end, after = held.partition(END)
                if not end:
                    self._held = held[1 - len(END) :]
                    return ""
                held, self._inside, self._thought = after, False, True
            begun = held.lstrip()
            if begun.startswith(CALLS) or any(mark.startswith(begun) for mark in (BEGIN, *CALLS)):
                self._held = held
                return ""
            if not begun.startswith(BEGIN):
                self.over = True
                # The blank lines between a thought and an answer are neither's.
                return begun if self._thought else held
            held, self._inside = begun[len(BEGIN) :], True

    def rest(self) -> str:
        """The text that was held back because it is or might have been one of these; called at the end."""
        return "" if self._inside or self.over else self._held.lstrip() if self._thought else self._held
