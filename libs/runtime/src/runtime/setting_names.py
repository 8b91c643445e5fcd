"""The names of settings in the environment. A name that is nearly a setting's is a slip of whoever wrote it: obeyed by
nobody, it would leave a service running with a default in place of what was meant, so the service does not start.

Only what this process reads is known here: another service's settings are that service's to look at. No two settings
are nearer to each other than a slip is (tests/deploy), so that neither another service's setting nor a newer release's
is taken for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

import structlog
from dotenv import dotenv_values
from pydantic import AliasChoices, ValidationError
from pydantic_settings import BaseSettings

from runtime.errors import NotReady
from runtime.settings import EnvSettings

PREFIX = "NEXUS_"
REMOVED: dict[str, str] = {}
"""Settings of the release before this one that this one has no more, with what to do instead. They stand here for one
release: whoever still sets one is told so, and no service ends for it."""

log = structlog.get_logger(__name__)


def settings_of(model: type[BaseSettings]) -> dict[str, tuple[str, ...]]:
    """By field, the variables that it is read from."""
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


def known() -> frozenset[str]:
    """The variables of every settings model that this process has imported."""
    return frozenset(name for model in _models(EnvSettings) for names in settings_of(model).values() for name in names)


def dotenv() -> dict[str, str | None]:
    """What stands in `.env`. Raises NotReady: it is no text."""
    try:
        return dotenv_values(".env")
    except UnicodeDecodeError:
        raise NotReady("the file .env in this folder is not UTF-8 text: save it as that") from None


def written() -> frozenset[str]:
    """The names that begin with NEXUS_ in the environment and in `.env`."""
    everywhere = {*os.environ, *dotenv()}
    return frozenset(name.upper() for name in everywhere if name.upper().startswith(PREFIX))


def slips(names: frozenset[str], settings: frozenset[str]) -> Mapping[str, str]:
    """The names that are no setting's and nearly one's, with that one."""
    return {
        name: meant
        for name in sorted(names - settings - REMOVED.keys())
        if (meant := next((one for one in sorted(settings) if is_slip(name, one)), None))
    }


def removed(names: frozenset[str]) -> Mapping[str, str]:
    """Those of the names that are no settings any more, with what to do instead."""
    return {name: REMOVED[name] for name in sorted(names & REMOVED.keys())}


def check_names() -> None:
    """Warns of settings that are removed. Raises NotReady, which names every slip and what was meant."""
    for name, instead in removed(written()).items():
        log.warning("setting.removed", setting=name, advice=instead)
    if found := slips(written(), known()):
        told = "; ".join(f"{name} is no setting: did you mean {meant}?" for name, meant in found.items())
        raise NotReady(f"{told} Write it right in the environment, in .env or in the values of your deployment")


def as_one_line(error: ValidationError) -> str | None:
    """What is wrong with which variable, without its value; None: the error is not of settings."""
    told = _values(error)
    if told is None:
        return None
    return f"{'; '.join(told)}: set it right in the environment, in .env or in the values of your deployment"


def wrong_values() -> list[str]:
    """What is wrong with the variables of every settings model that this process has imported, one line each."""
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
        told.append(f"{' or '.join(variables.get(field, (field,)))}: {one['msg'].removeprefix('Value error, ')}")
    return told


def is_slip(name: str, setting: str) -> bool:
    """Whether the two differ by one letter, or in a long name by two: left out, too much, another or swapped."""
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
