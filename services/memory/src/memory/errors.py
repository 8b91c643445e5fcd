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
    ├── NotFoundError                there is no such conversation, person, company, document, answer, gap or run
    ├── ConflictError                what exists, or was decided meanwhile, excludes what is asked for
    ├── MovedError                   the memory or the settings have another version by now
    ├── BadFieldsError               settings, or a correction of a memory, break a bound or name something unknown
    └── BadKnowledgeError            a document, answer or gap is invalid
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


class NotFoundError(MemoryServiceError):
    """The company has no such conversation, person, document, answer, gap or run, or no settings at all."""


class ConflictError(MemoryServiceError):
    """Something exists or was decided already: the company, another assignee, who two people are, a correction's id."""


class MovedError(MemoryServiceError):
    """Somebody has changed the memory or the settings since: read them again, then patch."""


class BadFieldsError(MemoryServiceError):
    """Settings, or a correction of a memory, that break a bound or name something unknown; `fields` says where."""

    def __init__(self, fields: list[FieldFault]) -> None:
        super().__init__("; ".join(f"{bad.field}: {bad.message}" for bad in fields))
        self.fields = fields


class BadKnowledgeError(MemoryServiceError):
    """Invalid data about a company's knowledge; `fields` says what is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.fields = [FieldFault(field=field, message=message)]
