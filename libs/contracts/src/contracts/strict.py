"""The base of settings: models that refuse unknown fields."""

from pydantic import ConfigDict, SerializationInfo, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from contracts.envelope import Wire


class Strict(Wire):
    """Settings from people: unknown fields are refused, since they are usually misspelt, and types are not
    converted. Settings that a newer release has stored or sent are read with `read_config`, which keeps unknown
    fields."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _serialize_with_unknown(self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo):  # noqa: ANN202 - a stated type would replace the fields in the JSON Schema
        data: dict[str, object] = serialize(self)
        return data | self.unknown

    @property
    def unknown(self) -> dict[str, object]:
        """Fields that a newer release wrote and this one cannot read, by their wire names."""
        extra = self.__pydantic_extra__
        return {} if extra is None else extra
