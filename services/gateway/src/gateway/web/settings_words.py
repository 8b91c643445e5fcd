"""Names and descriptions of settings: the console's texts, also used in the guide and the OpenAPI document."""

from collections.abc import Iterator
from typing import Any, cast

from contracts.languages import Language
from gateway.domain.settings_fields import setting_fields
from gateway.web.words import words

_ROOTS = ("ConfigBody", "ConfigView")


def described(path: str, language: Language) -> str:
    """The setting's name, with its description if it has one."""
    texts = words(language, "console")
    name, hint = texts[f"setting_{path}"], texts.get(f"setting_{path}_hint")
    return name if hint is None else f"{name}. {hint}"


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Adds the descriptions to the settings in the OpenAPI document."""
    schemas = cast("dict[str, dict[str, Any]]", document.get("components", {}).get("schemas", {}))
    for field in setting_fields():
        for place in _schemas_of(schemas, field.path):
            place["description"] = described(field.path, "en")
    return document


def _schemas_of(schemas: dict[str, dict[str, Any]], path: str) -> Iterator[dict[str, Any]]:
    *parents, leaf = path.split(".")
    for root in _ROOTS:
        schema = schemas.get(root, {})
        for name in parents:
            reference = str(schema.get("properties", {}).get(name, {}).get("$ref", ""))
            schema = schemas.get(reference.rpartition("/")[2], {})
        if leaf in schema.get("properties", {}):
            yield schema["properties"][leaf]
