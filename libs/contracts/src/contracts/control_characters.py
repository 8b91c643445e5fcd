"""Characters that steer what shows a text, or turn the direction of what follows."""

CONTROL_CHARACTERS = r"\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
"""As they stand within the brackets of a regular expression: ends of lines and tabs are among them."""
