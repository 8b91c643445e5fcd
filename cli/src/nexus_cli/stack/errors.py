"""What can go wrong with the local stack. Every message is one line that says what to do.

StackError
├── BadSetting          a variable in the environment has a value that it cannot have
├── DamagedSecrets      a file of secrets cannot be read
├── AlreadyRunning      another supervisor holds this data directory
├── NotRunning          a command needs a stack, and none runs on this data directory
├── PortTaken           the page's port is in use
├── ServerUnreachable   an address from the environment does not answer
└── StartFailed         a program ended or did not get ready in time
"""


class StackError(Exception):
    """A failure that ends the command with exit code 1 and this one line."""


class BadSetting(StackError):  # noqa: N818 - reads as an event, like every error here
    """A variable in the environment, or in .env, has a value that it cannot have."""


class DamagedSecrets(StackError):  # noqa: N818
    """A file of secrets in the data directory cannot be read."""


class AlreadyRunning(StackError):  # noqa: N818
    """Another supervisor holds this data directory."""


class NotRunning(StackError):  # noqa: N818
    """No stack runs on this data directory."""


class PortTaken(StackError):  # noqa: N818
    """The page's port is in use by another program."""


class ServerUnreachable(StackError):  # noqa: N818
    """An address given in the environment does not answer."""


class StartFailed(StackError):  # noqa: N818
    """A program ended, or was not ready in time, before the stack was up."""
