"""Checks names of settings in the environment. A name that nearly equals a setting's is probably a typo. It would be
ignored, and the service would run with a default instead of the intended value, so the service does not start.

Only the settings that this process reads are known here; other services check theirs. No two settings have names this
similar (tests/deploy), so that no setting of another service or of a newer release is taken for a typo.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

import structlog
from dotenv import dotenv_values
from pydantic import AliasChoices, ValidationError
from pydantic_settings import BaseSettings

from runtime.errors import NotReadyError
from runtime.settings import SECRETS, EnvSettings

PREFIX = "NEXUS_"
_CONSTANT = "remove it: the value is fixed now"
REMOVED: dict[str, str] = {
    "NEXUS_AGENT_ANALYSIS_SLOTS": _CONSTANT,
    "NEXUS_AGENT_MODEL_SILENCE_SECONDS": "name the provider in NEXUS_LLM_TIME_LIMITS, e.g. compatible=60",
    "NEXUS_GATEWAY_COMPANY_SHARE": _CONSTANT,
    "NEXUS_GATEWAY_VISITOR_TOKEN_SECONDS": _CONSTANT,
    "NEXUS_MEMORY_TRIM_SWEEP": _CONSTANT,
    "NEXUS_TOOL_EXECUTOR_CALL_SECONDS": _CONSTANT,
    "NEXUS_TOOL_EXECUTOR_FILE_SLOTS": _CONSTANT,
    "NEXUS_TOOL_EXECUTOR_PAGE_TOKENS": _CONSTANT,
    "NEXUS_TOOL_EXECUTOR_RECORD_SECONDS": _CONSTANT,
}
"""Settings that the previous release had and this one does not, with what to do instead. They are listed for one
release: setting one causes a warning, and the service still starts."""

log = structlog.get_logger(__name__)


def settings_of(model: type[BaseSettings]) -> dict[str, tuple[str, ...]]:
    """Returns the variables of each field."""
    prefix = str(model.model_config.get("env_prefix", PREFIX))
    variables: dict[str, tuple[str, ...]] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        if alias is None:
            variables[name] = (f"{prefix}{name}".upper(),)
        else:
            choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
            aliases = [str(choice) for choice in choices if str(choice).isupper()]
            own_name = (
                [f"{prefix}{name}".upper()] if name in choices and model.model_config.get("populate_by_name") else []
            )
            variables[name] = (*aliases, *own_name)
    return variables


def known_names() -> frozenset[str]:
    """Returns the variables of every settings model that this process has imported."""
    return frozenset(name for model in _models(EnvSettings) for names in settings_of(model).values() for name in names)


def dotenv() -> dict[str, str | None]:
    """Returns the content of `.env`. Raises NotReadyError if it is not UTF-8 text."""
    try:
        return dotenv_values(".env")
    except UnicodeDecodeError:
        raise NotReadyError("the file .env in this folder is not UTF-8 text: save it as that") from None


def secret_files() -> dict[str, str]:
    """Returns the contents of the secrets' files, by name. Raises NotReadyError if one cannot be read."""
    values: dict[str, str] = {}
    for file in SECRETS.glob("*"):
        if file.is_file():
            try:
                values[file.name] = file.read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise NotReadyError(
                    f"{file} cannot be read ({error}): it has to be text that the service's user may read"
                ) from None
    return values


def given_names() -> frozenset[str]:
    """Returns the names that begin with NEXUS_ in the environment, in `.env` and among the secrets' files."""
    names = {*os.environ, *dotenv(), *secret_files()}
    return frozenset(name.upper() for name in names if name.upper().startswith(PREFIX))


def misspelled(names: frozenset[str], settings: frozenset[str]) -> Mapping[str, str]:
    """Returns unknown names that nearly equal a setting's, each with that setting."""
    return {
        name: setting
        for name in sorted(names - settings - REMOVED.keys())
        if (setting := next((known for known in sorted(settings) if is_misspelling(name, known)), None))
    }


def removed_names(names: frozenset[str]) -> Mapping[str, str]:
    """Returns the names that are no longer settings, with what to do instead."""
    return {name: REMOVED[name] for name in sorted(names & REMOVED.keys())}


def check_names() -> None:
    """Warns of removed settings. Raises NotReadyError, naming every mistake and the likely setting."""
    for name, instead in removed_names(given_names()).items():
        log.warning("setting.removed", setting=name, advice=instead)
    if mistakes := misspelled(given_names(), known_names()):
        text = "; ".join(f"{name} is no setting: did you mean {nearest}?" for name, nearest in mistakes.items())
        raise NotReadyError(f"{text} Write it right in the environment, in .env or in the values of your deployment")


def as_one_line(error: ValidationError) -> str | None:
    """Returns which variables are wrong and why, without their values; None if the error is not about settings."""
    problems = _values(error)
    if problems is None:
        return None
    return f"{'; '.join(problems)}: set it right in the environment, in .env or in the values of your deployment"


def wrong_values() -> list[str]:
    """Returns what is wrong with the variables of every settings model that this process has imported, one line
    each."""
    problems: set[str] = set()
    for model in _models(EnvSettings):
        try:
            model()
        except ValidationError as error:
            problems.update(_values(error) or ())
    return sorted(problems)


def _values(error: ValidationError) -> list[str] | None:
    model = next((problem for problem in _models(EnvSettings) if problem.__name__ == error.title), None)
    if model is None:
        return None
    variables = settings_of(model)
    problems: list[str] = []
    for problem in error.errors(include_input=False, include_url=False):
        field = str(problem["loc"][0]) if problem["loc"] else ""
        names, text = variables.get(field, (field,)), problem["msg"].removeprefix("Value error, ")
        problems.append(text if text.startswith(names) else f"{' or '.join(names)}: {text}")
    return problems


def is_misspelling(name: str, setting: str) -> bool:
    """Whether the two differ by one letter, or in a long name by two: missing, extra, different or swapped."""
    max_distance = 0 if len(setting) < len(PREFIX) + 4 else 1 if len(setting) < len(PREFIX) + 9 else 2
    if abs(len(name) - len(setting)) > max_distance or SequenceMatcher(None, name, setting).quick_ratio() < 0.8:
        return False
    return 0 < distance(name, setting) <= max_distance


def distance(first: str, second: str) -> int:
    """Returns how many letters must be removed, added, changed or swapped with the next to turn one string into the
    other (optimal string alignment)."""
    row_before_last: list[int] = []
    previous_row = list(range(len(second) + 1))
    for row_number, letter in enumerate(first, 1):
        current_row = [row_number]
        for column, other_letter in enumerate(second, 1):
            best = min(
                previous_row[column] + 1, current_row[-1] + 1, previous_row[column - 1] + (letter != other_letter)
            )
            if row_number > 1 and column > 1 and letter == second[column - 2] and first[row_number - 2] == other_letter:
                best = min(best, row_before_last[column - 2] + 1)
            current_row.append(best)
        row_before_last, previous_row = previous_row, current_row
    return previous_row[-1]


def _models(base: type[EnvSettings]) -> Iterator[type[EnvSettings]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)
