"""What settings are made of: models that refuse what they do not know."""

from pydantic import ConfigDict, SerializationInfo, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from contracts.envelope import Wire


class Strict(Wire):
    """Settings refuse what they do not know from people: a misspelt field is an error, not a silence. Nor is a text a
    number, or a number a yes. What a newer release has stored or told is read by `read_config`, and travels on."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _with_what_is_not_known_here(self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo):  # noqa: ANN202 - a stated type would replace the fields in the JSON Schema
        data: dict[str, object] = serialize(self)
        return data | self.unknown

    @property
    def unknown(self) -> dict[str, object]:
        """Members that a newer release wrote and this one cannot read, by their names on the wire."""
        extra = self.__pydantic_extra__
        return {} if extra is None else extra
