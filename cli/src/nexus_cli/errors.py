"""The base of all errors that end a command with one line."""


class CommandFailedError(Exception):
    """Ends the command with exit code 1 and this one line, which says what to do."""
