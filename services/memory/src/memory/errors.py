"""What memory cannot do, and why.

NexusError (contracts)
└── MemoryServiceError
    ├── RetryableError               a retry may succeed
    │   ├── StoreUnavailableError    MongoDB did not answer in time
    │   ├── RedisUnavailableError    Redis did not answer in time
    │   ├── BusUnavailableError      the streams did not do what has to be done there
    │   ├── ServiceUnavailableError  another service did not answer, or did not do what has to be done there
    │   ├── ProjectionBehindError    the projection did not reach a sequence in time
    │   └── UnknownSequenceError     a reader named a sequence that the log has not reached
    ├── StoreRefusedError            MongoDB will never take this document
    ├── NoSuchConversationError      no conversation of this id
    ├── AssignedMeanwhileError       the conversation has another assignee by now
    ├── NoSuchPersonError            nobody of this id has written to the company
    ├── NotMergedError               these two are not one person at the desk
    ├── CompanyExistsError           settings are there already
    ├── NoSuchCompanyError           no settings to change
    ├── BadKnowledgeError            a document, answer or gap that cannot be taken as it was sent
    ├── NoSuchKnowledgeError         no such document, answer, gap or run
    ├── CorrectionReusedError        an id came before, with another correction of a memory
    ├── MemoryMovedError             what is remembered has another version by now
    └── SettingsMovedError           the settings have another version by now
"""

from contracts.errors import FieldFault, NexusError


class MemoryServiceError(NexusError):
    """Base of everything this service raises on purpose."""


class RetryableError(MemoryServiceError):
    """Something did not answer or is behind: a retry may succeed."""

    retryable = True


class StoreUnavailableError(RetryableError):
    """MongoDB did not answer in time; whether the command took effect is unknown."""


class StoreRefusedError(MemoryServiceError):
    """MongoDB refuses documents or commands of this form; a retry would be refused too."""


class RedisUnavailableError(RetryableError):
    """Redis did not answer in time; whether the command took effect is unknown."""


class BusUnavailableError(RetryableError):
    """The streams could not be reached, or refused something that must be done."""


class ServiceUnavailableError(RetryableError):
    """Another service could not be reached, or refused something that must be done."""


class ProjectionBehindError(RetryableError):
    """The projection did not reach the sequence within the deadline."""


class UnknownSequenceError(RetryableError):
    """The log has not reached the sequence that the reader named."""


class NoSuchConversationError(MemoryServiceError):
    """The company has no such conversation."""


class AssignedMeanwhileError(MemoryServiceError):
    """The conversation is assigned to somebody other than the caller expects: read it again."""


class NoSuchPersonError(MemoryServiceError):
    """Nobody of this id has written to the company."""


class NotMergedError(MemoryServiceError):
    """The desk cannot merge these two people."""


class CompanyExistsError(MemoryServiceError):
    """The company has settings already: patch them."""


class NoSuchCompanyError(MemoryServiceError):
    """The company has no settings: create them first."""


class BadKnowledgeError(MemoryServiceError):
    """Invalid data about a company's knowledge; `fields` says what is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.fields = [FieldFault(field=field, message=message)]


class NoSuchKnowledgeError(MemoryServiceError):
    """The company has no such document, answer, gap or run."""


class MemoryMovedError(MemoryServiceError):
    """The user's memory has changed since: read it again, then patch."""


class CorrectionReusedError(MemoryServiceError):
    """An earlier correction of a memory had this id and another content."""


class SettingsMovedError(MemoryServiceError):
    """Somebody has changed the settings since: read them again, then patch."""

    def __init__(self, message: str, version: int) -> None:
        super().__init__(message)
        self.version = version
