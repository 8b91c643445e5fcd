"""Checks names of settings in the environment. A name that is nearly a setting's is probably a typing mistake: it would
be ignored, and the service would run with a default instead of the intended value, so the service does not start.

Only settings that this process reads are known here; another service checks its own. No two settings have names this
similar (tests/deploy), so that neither another service's setting nor a newer release's is mistaken for one.
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
release: setting one causes a warning, and no service ends for it."""

log = structlog.get_logger(__name__)


def settings_of(model: type[BaseSettings]) -> dict[str, tuple[str, ...]]:
    """The variables of each field."""
    prefix = str(model.model_config.get("env_prefix", PREFIX))
    found: dict[str, tuple[str, ...]] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        if alias is None:
            found[name] = (f"{prefix}{name}".upper(),)
        else:
            choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
            named = [str(one) for one in choices if str(one).isupper()]
            own = [f"{prefix}{name}".upper()] if name in choices and model.model_config.get("populate_by_name") else []
            found[name] = (*named, *own)
    return found


def known_names() -> frozenset[str]:
    """The variables of every settings model that this process has imported."""
    return frozenset(name for model in _models(EnvSettings) for names in settings_of(model).values() for name in names)


def dotenv() -> dict[str, str | None]:
    """The content of `.env`. Raises NotReadyError: it is no text."""
    try:
        return dotenv_values(".env")
    except UnicodeDecodeError:
        raise NotReadyError("the file .env in this folder is not UTF-8 text: save it as that") from None


def secret_files() -> dict[str, str]:
    """What the secrets' files hold, by name. Raises NotReadyError: one cannot be read."""
    found: dict[str, str] = {}
    for file in SECRETS.glob("*"):
        if file.is_file():
            try:
                found[file.name] = file.read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise NotReadyError(
                    f"{file} cannot be read ({error}): it has to be text that the service's user may read"
                ) from None
    return found


def given_names() -> frozenset[str]:
    """The names that begin with NEXUS_ in the environment, in `.env` and among the files of secrets."""
    everywhere = {*os.environ, *dotenv(), *secret_files()}
    return frozenset(name.upper() for name in everywhere if name.upper().startswith(PREFIX))


def misspelled(names: frozenset[str], settings: frozenset[str]) -> Mapping[str, str]:
    """Unknown names that are nearly a setting's, with that setting."""
    return {
        name: meant
        for name in sorted(names - settings - REMOVED.keys())
        if (meant := next((one for one in sorted(settings) if is_misspelling(name, one)), None))
    }


def removed_names(names: frozenset[str]) -> Mapping[str, str]:
    """Returns the names that are no longer settings, with what to do instead."""
    return {name: REMOVED[name] for name in sorted(names & REMOVED.keys())}


def check_names() -> None:
    """Warns of removed settings. Raises NotReadyError, naming every mistake and the likely setting."""
    for name, instead in removed_names(given_names()).items():
        log.warning("setting.removed", setting=name, advice=instead)
    if found := misspelled(given_names(), known_names()):
        told = "; ".join(f"{name} is no setting: did you mean {meant}?" for name, meant in found.items())
        raise NotReadyError(f"{told} Write it right in the environment, in .env or in the values of your deployment")


def as_one_line(error: ValidationError) -> str | None:
    """Returns which variables are wrong and why, without their values; None if the error is not about settings."""
    told = _values(error)
    if told is None:
        return None
    return f"{'; '.join(told)}: set it right in the environment, in .env or in the values of your deployment"


def wrong_values() -> list[str]:
    """Returns what is wrong with the variables of every settings model that this process has imported, one line
    each."""
    found: set[str] = set()
    for model in _models(EnvSettings):
        try:
            model()
        except ValidationError as error:
            found.update(_values(error) or ())
    return sorted(found)


def _values(error: ValidationError) -> list[str] | None:
    model = next((one for one in _models(EnvSettings) if one.__name__ == error.title), None)
    if model is None:
        return None
    variables = settings_of(model)
    told: list[str] = []
    for one in error.errors(include_input=False, include_url=False):
        field = str(one["loc"][0]) if one["loc"] else ""
        names, text = variables.get(field, (field,)), one["msg"].removeprefix("Value error, ")
        told.append(text if text.startswith(names) else f"{' or '.join(names)}: {text}")
    return told


def is_misspelling(name: str, setting: str) -> bool:
    """Whether the two differ by one letter, or in a long name by two: missing, extra, different or swapped."""
    most = 0 if len(setting) < len(PREFIX) + 4 else 1 if len(setting) < len(PREFIX) + 9 else 2
    if abs(len(name) - len(setting)) > most or SequenceMatcher(None, name, setting).quick_ratio() < 0.8:
        return False
    return 0 < distance(name, setting) <= most


def distance(one: str, other: str) -> int:
    """Letters to leave out, add, change or swap with the next until one is the other (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            best = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                best = min(best, before[column - 2] + 1)
            line.append(best)
        before, last = last, line
    return last[-1]


def _models(base: type[EnvSettings]) -> Iterator[type[EnvSettings]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)
