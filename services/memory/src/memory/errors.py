"""Memory's errors.

NexusError (contracts)
└── MemoryServiceError
    ├── RetryableError               a retry may succeed
    │   ├── StoreUnavailableError    MongoDB did not answer in time
    │   ├── RedisUnavailableError    Redis did not answer in time
    │   ├── BusUnavailableError      the streams could not be reached, or refused a necessary operation
    │   ├── ServiceUnavailableError  another service could not be reached, or refused a necessary operation
    │   ├── ProjectionBehindError    the projection did not reach a sequence in time
    │   └── UnknownSequenceError     a caller named a sequence that the log has not reached
    ├── StoreRefusedError            MongoDB will never accept this document
    ├── NoSuchConversationError      there is no conversation with this id
    ├── AssignedMeanwhileError       the conversation has another assignee by now
    ├── NoSuchPersonError            nobody with this id has written to the company
    ├── NotMergedError               the desk cannot merge or separate these two people
    ├── CompanyExistsError           the company has settings already
    ├── NoSuchCompanyError           the company has no settings to change
    ├── BadKnowledgeError            a document, answer or gap is invalid
    ├── NoSuchKnowledgeError         there is no such document, answer, gap or run
    ├── CorrectionReusedError        the id was used before, for another correction of a memory
    ├── MemoryMovedError             the memory has another version by now
    └── SettingsMovedError           the settings have another version by now
"""

from contracts.errors import FieldFault, NexusError


class MemoryServiceError(NexusError):
    """Base of every error that this service raises on purpose."""


class RetryableError(MemoryServiceError):
    """A dependency did not answer or lags behind: a retry may succeed."""

    retryable = True


class StoreUnavailableError(RetryableError):
    """MongoDB did not answer in time; whether the command took effect is unknown."""


class StoreRefusedError(MemoryServiceError):
    """MongoDB refuses documents or commands of this form; a retry would be refused too."""


class RedisUnavailableError(RetryableError):
    """Redis did not answer in time; whether the command took effect is unknown."""


class BusUnavailableError(RetryableError):
    """The streams could not be reached, or refused a necessary operation."""


class ServiceUnavailableError(RetryableError):
    """Another service could not be reached, or refused a necessary operation."""


class ProjectionBehindError(RetryableError):
    """The projection did not reach the sequence within the deadline."""


class UnknownSequenceError(RetryableError):
    """The log has not reached the sequence that the caller named."""


class NoSuchConversationError(MemoryServiceError):
    """The company has no such conversation."""


class AssignedMeanwhileError(MemoryServiceError):
    """The conversation is assigned to somebody other than the caller expects: read it again."""


class NoSuchPersonError(MemoryServiceError):
    """Nobody with this id has written to the company."""


class NotMergedError(MemoryServiceError):
    """The desk cannot merge or separate these two people."""


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
