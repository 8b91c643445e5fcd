"""Documents: the language they are in, and their text as blocks."""
