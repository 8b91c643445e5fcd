"""A result's JSON Schema says what its model says."""

from datetime import date

from pydantic import Field

from contracts.envelope import Snake
from contracts.tools.results import NOT_REQUIRED, NonEmpty, Number, Price, output_schema


class Day(Snake):
    """One of several."""

    day: date = Field(serialization_alias="from")


class Example(Snake):
    """A result."""

    days: list[Day]
    figures: dict[str, Number | None]
    price: Price | None
    currency: NonEmpty = NOT_REQUIRED


def test_the_schema_has_what_is_required_what_may_be_null_and_the_names_on_the_wire() -> None:
    day = {"type": "object", "properties": {"from": {"type": "string", "format": "date"}}, "required": ["from"]}
    assert output_schema(Example) == {
        "type": "object",
        "properties": {
            "days": {"type": "array", "items": day},
            "figures": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
            "price": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "currency": {"type": "string", "minLength": 1},
        },
        "required": ["days", "figures", "price"],
    }
