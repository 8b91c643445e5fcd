"""The errors of the local stack. Every message is one line that says what to do.

StackError
├── BadSettingError         a variable in the environment has an invalid value
├── UnusableDataError       the data directory cannot be created or written
├── DamagedSecretsError     a file of secrets cannot be read
├── AlreadyRunningError     another supervisor holds this data directory
├── NotRunningError         a command needs a stack, but none is running on this data directory
├── PortTakenError          the page's port is in use
├── ServerUnreachableError  a server that a command needs, or an address from the environment, does not answer
└── StartFailedError        a program ended or did not get ready in time
"""

from nexus_cli.errors import CommandFailedError


class StackError(CommandFailedError):
    """A failure of the local stack."""


class BadSettingError(StackError):
    """A variable in the environment or in .env has an invalid value."""


class UnusableDataError(StackError):
    """The data directory cannot be created or written."""


class DamagedSecretsError(StackError):
    """A file of secrets in the data directory cannot be read."""


class AlreadyRunningError(StackError):
    """Another supervisor holds this data directory."""


class NotRunningError(StackError):
    """No stack is running on this data directory."""


class PortTakenError(StackError):
    """The page's port is in use by another program."""


class ServerUnreachableError(StackError):
    """A server that a command needs, or an address given in the environment, does not answer."""


class StartFailedError(StackError):
    """A program ended or was not ready in time while the stack started."""
