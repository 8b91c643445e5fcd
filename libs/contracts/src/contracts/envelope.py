"""The envelope of every event: CloudEvents 1.0 in JSON structured mode.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md, section 3. `data` is camelCase on the wire; trace
context travels in NATS headers, not here.
"""

from datetime import UTC, datetime
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from contracts.ids import uuid7

CACHED_STRINGS: Literal["keys"] = "keys"
"""Which strings of parsed JSON are cached: only field names, since they recur. Most values are ids, which do not:
caching them too would take 1.5 MiB in each process and make parsing a tenth slower."""


class Wire(BaseModel):
    """Base of everything on the wire: camelCase names outside, snake_case inside; frozen; ignores unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore", cache_strings=CACHED_STRINGS
    )

    def to_wire(self) -> dict[str, Any]:
        """Returns the JSON object for the wire; fields that are None are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json(self) -> bytes:
        """Returns the JSON text for the wire, in UTF-8; fields that are None are left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class Snake(BaseModel):
    """Base of tool arguments and tool data: snake_case on the wire too, since models see them."""

    model_config = ConfigDict(frozen=True, extra="ignore", cache_strings=CACHED_STRINGS)


DataT = TypeVar("DataT", bound=BaseModel)
REQUIRED_ATTRIBUTES = frozenset({"specversion", "id", "source", "type", "data"})
"""Attributes that every event on the wire must carry: a reader's default would give it a different id each time."""


class CloudEvent(BaseModel, Generic[DataT]):
    """One event. `type` is the subject without its ids; `id` is UUIDv7, or derived if a repeat must be recognised."""

    model_config = ConfigDict(frozen=True, extra="ignore", cache_strings=CACHED_STRINGS)

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(default_factory=uuid7, min_length=1, max_length=128)
    source: str = Field(min_length=1, description="the publishing service, e.g. /nexus/gateway")
    type: str = Field(min_length=1, description="the subject without its ids, e.g. chat.message.visitor.v1")
    time: datetime = Field(default_factory=lambda: datetime.now(UTC))
    subject: str | None = Field(default=None, description="what it is about: company/conversation or company/user")
    datacontenttype: Literal["application/json"] = "application/json"
    data: DataT

    def to_json(self) -> bytes:
        """Returns the JSON text for the wire, in UTF-8; fields that are None are left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    @classmethod
    def parse(cls, raw: bytes | str) -> Self:
        """Parses an event; raises ValueError if the JSON text is no event or lacks a required attribute."""
        event = cls.model_validate_json(raw)
        if missing := REQUIRED_ATTRIBUTES - event.model_fields_set:
            raise ValueError(f"a CloudEvent needs {', '.join(sorted(missing))}")
        return event
