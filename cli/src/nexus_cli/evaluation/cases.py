"""The cases of `nexus eval`, one TOML file each; `cases/README.md` describes the format."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from contracts.languages import Language
from nexus_cli.errors import CommandFailedError

Kind = Literal["visitor", "copilot", "tool", "analysis"]
_ID = r"^[a-z0-9-]{1,60}$"


class BadCaseError(CommandFailedError):
    """A case cannot be read. The message names the file and the fault."""


class CaseModel(BaseModel):
    """Base of the models of case files; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


FormT = TypeVar("FormT", bound=CaseModel)


class ModelCall(CaseModel):
    """A tool call of a recorded model. Arguments given as text are sent unchanged, even if malformed."""

    name: str
    arguments: dict[str, object] | str = Field(default_factory=dict[str, object])


class ModelReply(CaseModel):
    """One reply of a recorded model. Replies are given in order; the last one is repeated."""

    text: str | None = None
    calls: list[ModelCall] = Field(default_factory=list[ModelCall])
    status: int = 200


class Expect(CaseModel):
    """The conditions that must hold. Texts are regular expressions that ignore case; figures must agree to one part in
    a million."""

    # a chat's last turn
    says: list[str] = Field(default_factory=list[str])
    says_by_rules: list[str] = Field(default_factory=list[str], description="where the built-in rules answer")
    says_not: list[str] = Field(default_factory=list[str])
    tools: list[str] | None = Field(default=None, description="by name, in order; [] for none")
    tools_among: list[str] | None = None
    tools_not: list[str] = Field(default_factory=list[str])
    arguments: list[dict[str, object]] | None = Field(default=None, description="of each call, as far as named")
    errors: list[str] | None = Field(default=None, description="codes of the calls that failed, in order")
    calls_at_most: int | None = None
    model_calls_at_most: int | None = None
    citations: list[str] | None = Field(default=None, description="how each cited address ends")
    actions: int | None = Field(default=None, description="that wait for a yes")
    code: str | None = Field(default=None, description="of the system message that it ends in")
    figures_from_tools: bool = Field(default=False, description="every figure said is in a result or was asked with")
    # a tool call
    status: int | None = None
    error: str | None = None
    reason: str | None = None
    field: str | None = None
    required_plan: str | None = None
    # a tool's data, or an analysis's report
    data: dict[str, object] = Field(
        default_factory=dict[str, object], description="by path, e.g. tickers.IBM.returns.1y"
    )
    present: list[str] = Field(default_factory=list[str], description="paths whose value is not null")
    absent: list[str] = Field(default_factory=list[str], description="paths that are not there, or null")
    recomputed: list[str] = Field(default_factory=list[str], description="figures worked out anew from the bars")
    tickers: list[str] | None = None
    tools_used: list[str] | None = None
    limitations: list[str] = Field(default_factory=list[str])
    seconds: float = Field(default=20.0, gt=0, description="the last turn or call may take, at most")


class Case(CaseModel):
    """One case."""

    id: str = Field(pattern=_ID)
    about: str = Field(min_length=1)
    kind: Kind
    language: Language = "en"
    plan: Literal["free", "pro", "premium"] = "free"
    needs_model: bool = False
    say: list[str] = Field(default_factory=list[str])
    page: str | None = None
    settings: dict[str, object] = Field(default_factory=dict[str, object])
    model: list[ModelReply] = Field(default_factory=list[ModelReply], description="a recorded model's replies")
    tool: str | None = None
    arguments: dict[str, object] = Field(default_factory=dict[str, object])
    times: int = Field(default=1, ge=1, le=200, description="how often the tool is called; the last result counts")
    query: str | None = None
    tickers: list[str] | None = None
    use_llm: bool = False
    expect: Expect

    @model_validator(mode="after")
    def _has_its_input(self) -> Self:
        if self.kind in ("visitor", "copilot") and not self.say:
            raise ValueError("a chat needs `say`")
        if self.kind == "tool" and self.tool is None:
            raise ValueError("a tool case needs `tool`")
        if self.kind == "analysis" and self.query is None:
            raise ValueError("an analysis needs `query`")
        if self.model and self.needs_model:
            raise ValueError("a case with a recorded model needs no other: leave out `needs_model` or `model`")
        return self

    @property
    def asked(self) -> str:
        """The last question; recorded models recognise the case by it."""
        return self.query or (self.say[-1] if self.say else "")


def own_cases() -> Path:
    """The folder of the cases that come with the command."""
    return Path(str(files("nexus_cli.evaluation").joinpath("cases")))


def read_cases(directory: Path) -> list[Case]:
    """Reads the cases of a folder and its subfolders, in the order of their paths.

    Raises:
        BadCaseError: there is no case, or one cannot be read.
    """
    paths = sorted(directory.rglob("*.toml")) if directory.is_dir() else []
    if not paths:
        raise BadCaseError(f"{directory} holds no cases (*.toml, one case each)")
    cases = [read_toml(file, Case, id=file.stem) for file in paths]
    _check_unique(cases)
    return cases


def read_toml(file: Path, model_type: type[FormT], **fields: object) -> FormT:
    """Reads a TOML file into a model; `fields` are defaults for it.

    Raises:
        BadCaseError: the file cannot be read or does not fit the model.
    """
    try:
        return model_type.model_validate({**fields, **tomllib.loads(file.read_text("utf-8"))})
    except (OSError, ValueError) as error:
        if isinstance(error, ValidationError):
            reason = "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'case'}: {fault['msg']}" for fault in error.errors()[:3]
            )
        else:
            reason = str(error)
        raise BadCaseError(f"{file}: {reason}") from error


def _check_unique(cases: Sequence[Case]) -> None:
    ids: set[str] = set()
    cases_by_question: dict[str, str] = {}
    for case in cases:
        if case.id in ids:
            raise BadCaseError(f"two cases are called {case.id}")
        ids.add(case.id)
        if not case.model:
            continue
        for text, other_case in cases_by_question.items():
            if case.asked in text or text in case.asked:
                raise BadCaseError(
                    f"{case.id} and {other_case} ask a recorded model the same question: change the words of one"
                )
        cases_by_question[case.asked] = case.id
