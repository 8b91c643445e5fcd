"""The guide's table of settings in each language, from the model that validates them and the console's texts."""

import json

from contracts.languages import Language
from gateway.domain.settings_fields import SettingField, setting_fields
from gateway.web.settings_words import described

PAGES: dict[Language, str] = {"en": "en/settings.md", "es": "es/ajustes.md"}
_HEADS: dict[Language, str] = {
    "en": """# Settings

All that can be set of a company, from the model that checks it. Each is the same in `nexus company set`, in the console
and over HTTP (`PATCH /v2/companies/{id}`); `null` is the default again. What is stored and has no effect comes back as
a warning, which the console shows beside its field.

| setting | | bounds | default |
| --- | --- | --- | --- |
""",
    "es": """# Ajustes

Todo lo que se puede ajustar de una empresa, a partir del modelo que lo comprueba. Cada ajuste es el mismo en
`nexus company set`, en la consola y por HTTP (`PATCH /v2/companies/{id}`); `null` devuelve el valor inicial. Lo que se
guarda y no tiene efecto vuelve como aviso, y se ve junto a su campo.

| ajuste | | límites | valor inicial |
| --- | --- | --- | --- |
""",
}
_UNITS: dict[Language, dict[str, str]] = {
    "en": {"string": "characters", "array": "entries", "upTo": "up to", "from": "from", "none": "none"},
    "es": {"string": "caracteres", "array": "entradas", "upTo": "hasta", "from": "desde", "none": "ninguno"},
}


def page(language: Language) -> str:
    """Returns the page as the guide contains it."""
    return _HEADS[language] + "".join(_row(field, language) for field in setting_fields())


def _row(field: SettingField, language: Language) -> str:
    cells = (
        f"`{field.path}`",
        described(field.path, language),
        _bounds(field, language),
        _default(field.default, language),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _bounds(field: SettingField, language: Language) -> str:
    if field.choices:
        return ", ".join(f"`{choice}`" for choice in field.choices)
    units = _UNITS[language]
    unit = f" {units[field.kind]}" if field.kind in units else ""
    if field.kind in {"integer", "number"} and field.least is not None and field.most is not None:
        return f"{field.least:g}–{field.most:.10g}"
    if field.most is not None:
        return f"{units['upTo']} {field.most:.10g}{unit}"
    return f"{units['from']} {field.least:g}" if field.least is not None and field.kind in {"integer", "number"} else ""


def _default(value: object, language: Language) -> str:
    if value in (None, [], {}):
        return _UNITS[language]["none"]
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
