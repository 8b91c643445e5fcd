"""What memory cannot do, and why.

NexusError (contracts)
└── MemoryFault
    ├── Unavailable          a retry may succeed
    │   ├── StoreUnavailable     MongoDB did not answer in time
    │   ├── RedisUnavailable     Redis did not answer in time
    │   ├── BusUnavailable       the streams did not do what has to be done there
    │   ├── ServiceUnavailable   another service did not answer, or did not do what has to be done there
    │   ├── ProjectionBehind     the projection did not reach a sequence in time
    │   └── UnknownSequence      a reader named a sequence that the log has not reached
    ├── StoreRefused         MongoDB will never take this document
    ├── NoSuchConversation   no conversation of this id
    ├── AssignedMeanwhile    the conversation has another assignee by now
    ├── NoSuchPerson         nobody of this id has written to the company
    ├── NotMerged            these two are not one person at the desk
    ├── CompanyExists        settings are there already
    ├── NoSuchCompany        no settings to change
    ├── BadKnowledge         a document, answer or gap that cannot be taken as it was sent
    ├── NoSuchKnowledge      no such document, answer, gap or run
    ├── CorrectionReused     an id came before, with another correction of a memory
    ├── MemoryMoved          what is remembered has another version by now
    └── SettingsMoved        the settings have another version by now
"""

from contracts.errors import FieldFault, NexusError


class MemoryFault(NexusError):  # noqa: N818 - the tree above reads as a list of events
    """Base of everything this service raises on purpose."""


class Unavailable(MemoryFault):
    """Something did not answer or is behind: a retry may succeed."""

    retryable = True


class StoreUnavailable(Unavailable):
    """MongoDB did not answer in time; whether the command took effect is unknown."""


class StoreRefused(MemoryFault):
    """MongoDB refuses documents or commands of this form; a retry would be refused too."""


class RedisUnavailable(Unavailable):
    """Redis did not answer in time; whether the command took effect is unknown."""


class BusUnavailable(Unavailable):
    """The streams could not be reached, or refused something that must be done."""


class ServiceUnavailable(Unavailable):
    """Another service could not be reached, or refused something that must be done."""


class ProjectionBehind(Unavailable):
    """The projection did not reach the sequence within the deadline."""


class UnknownSequence(Unavailable):
    """The log has not reached the sequence that the reader named."""


class NoSuchConversation(MemoryFault):
    """The company has no such conversation."""


class AssignedMeanwhile(MemoryFault):
    """The conversation is assigned to somebody other than the caller expects: read it again."""


class NoSuchPerson(MemoryFault):
    """Nobody of this id has written to the company."""


class NotMerged(MemoryFault):
    """These two people cannot be merged at the desk."""


class CompanyExists(MemoryFault):
    """The company has settings already: patch them."""


class NoSuchCompany(MemoryFault):
    """The company has no settings: create them first."""


class BadKnowledge(MemoryFault):
    """Invalid data about a company's knowledge; `fields` says what is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.fields = [FieldFault(field=field, message=message)]


class NoSuchKnowledge(MemoryFault):
    """The company has no such document, answer, gap or run."""


class MemoryMoved(MemoryFault):
    """The user's memory has changed since: read it again, then patch."""


class CorrectionReused(MemoryFault):
    """An earlier correction of a memory had this id and another content."""


class SettingsMoved(MemoryFault):
    """Somebody has changed the settings since: read them again, then patch."""

    def __init__(self, message: str, version: int) -> None:
        super().__init__(message)
        self.version = version
