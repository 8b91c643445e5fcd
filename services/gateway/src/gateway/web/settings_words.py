"""Names and descriptions of settings: the console's words, which the guide's table and the OpenAPI document use too."""

from collections.abc import Iterator
from typing import Any, cast

from contracts.languages import Language
from gateway.domain.settings_fields import setting_fields
from gateway.web.words import words

_ROOTS = ("ConfigBody", "ConfigView")


def described(path: str, language: Language) -> str:
    """The setting's name, and a description if the name is not enough."""
    texts = words(language, "console")
    name, hint = texts[f"setting_{path}"], texts.get(f"setting_{path}_hint")
    return name if hint is None else f"{name}. {hint}"


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Adds them to the OpenAPI document's settings."""
    schemas = cast("dict[str, dict[str, Any]]", document.get("components", {}).get("schemas", {}))
    for field in setting_fields():
        for place in _places(schemas, field.path):
            place["description"] = described(field.path, "en")
    return document


def _places(schemas: dict[str, dict[str, Any]], path: str) -> Iterator[dict[str, Any]]:
    *above, last = path.split(".")
    for root in _ROOTS:
        schema = schemas.get(root, {})
        for name in above:
            reference = str(schema.get("properties", {}).get(name, {}).get("$ref", ""))
            schema = schemas.get(reference.rpartition("/")[2], {})
        if last in schema.get("properties", {}):
            yield schema["properties"][last]
