"""A company's own model: its address and its key. The company pays for it."""

from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, ValidationInfo, model_validator

from contracts.enumerations import is_input
from contracts.own_tools import endpoint
from contracts.plain_text import LINE_OF_SETTINGS
from contracts.providers import COMPATIBLE, KEYED
from contracts.strict import Strict


def _known(value: str, info: ValidationInfo) -> str:
    if is_input(info) and value not in (COMPATIBLE.name, *KEYED):
        raise ValueError(f"use one of {', '.join((COMPATIBLE.name, *KEYED))}")
    return value


def _plain(value: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("a key is printable ASCII without blanks")
    return value


class Price(Strict):
    """The prices of a million tokens, in USD."""

    prompt: StrictFloat = Field(ge=0, le=10_000)
    completion: StrictFloat = Field(ge=0, le=10_000)


class OwnModel(Strict):
    """A model that only this company uses."""

    provider: Annotated[str, AfterValidator(_known)] = Field(
        default=COMPATIBLE.name, description="whose API it speaks; compatible: any server that speaks OpenAI's"
    )
    address: Annotated[str, Field(max_length=2048), AfterValidator(endpoint)] | None = Field(
        default=None, description="of the API, e.g. https://models.example/v1; null: the provider's own"
    )
    model: Annotated[str, Field(min_length=1, max_length=200, description="its name there"), LINE_OF_SETTINGS]
    key: Annotated[str, Field(min_length=1, max_length=2048), AfterValidator(_plain)] | None = Field(
        default=None, description="kept sealed, and never shown again"
    )
    price: Price | None = Field(default=None, description="null: that of the price list, or none is told")
    sees: StrictBool | None = Field(
        default=None, description="it takes pictures; null: as the list of models has it, and no where it is not there"
    )

    @model_validator(mode="after")
    def _is_somewhere(self, info: ValidationInfo) -> "OwnModel":
        if is_input(info) and self.provider == COMPATIBLE.name and self.address is None:
            raise ValueError("say the address of a compatible server")
        if is_input(info) and self.provider != COMPATIBLE.name and self.key is None:
            raise ValueError(f"{self.provider} needs a key")
        return self
