"""Characters that control a terminal, or change the direction of the text after them."""

CONTROL_CHARACTERS = r"\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
"""For use inside the brackets of a regular expression; includes line breaks and tabs."""
