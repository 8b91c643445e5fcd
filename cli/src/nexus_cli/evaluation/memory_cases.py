"""Datasets for long-term memory: a person's messages, and what must be remembered afterwards. The format is described
in docs/architecture/memory.md."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from nexus_cli.evaluation.dataset import BadDatasetError

KINDS = ("bothTrue", "change", "fact", "paraphrase", "nothing")
MAX_BYTES = 64 * 1024 * 1024


class MemoryCase(BaseModel):
    """One person. Each text of `said` is a turn of its own, a day after the one before.

    bothTrue: each text must be remembered as true. change: the last text replaces the fact of the first one, or with
    `ends` only ends it; `plain`: it does so in unmistakable words. fact: all of `keeps` must be remembered. paraphrase:
    the texts must be among the facts that a prompt gets for the question `asked`. nothing: there is nothing to
    remember.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    kind: Literal["bothTrue", "change", "fact", "paraphrase", "nothing"]
    said: tuple[str, ...] = Field(min_length=1, max_length=100)
    language: str = "-"
    ends: bool = False
    plain: bool = True
    keeps: tuple[str, ...] = ()
    asked: str | None = None

    @model_validator(mode="after")
    def _has_its_texts(self) -> Self:
        if self.kind in ("bothTrue", "change") and len(self.said) < 2:
            raise ValueError(f"a case of the kind {self.kind} has two texts or more under `said`")
        if self.kind == "paraphrase" and not self.asked:
            raise ValueError("a case of the kind paraphrase has a question under `asked`")
        return self


class MemoryData(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid")

    cases: list[MemoryCase] = Field(min_length=1)


def read_memory_cases(path: Path) -> list[MemoryCase]:
    """Reads the cases of a file.

    Raises:
        BadDatasetError: the file cannot be read or does not have this form.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadDatasetError(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB: split it")
        return MemoryData.model_validate_json(path.read_bytes()).cases
    except OSError as error:
        raise BadDatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first_fault = error.errors()[0]
        field = ".".join(map(str, first_fault["loc"])) or "it"
        raise BadDatasetError(
            f"{path}: {field}: {first_fault['msg']}; the format is in docs/architecture/memory.md"
        ) from error
