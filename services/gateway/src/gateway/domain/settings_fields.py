"""All company settings with their bounds, taken from the model, for the console's form, the guide's table and the
OpenAPI document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from contracts.company import CompanyConfig


@dataclass(frozen=True, slots=True)
class SettingField:
    """A company setting. `path`: with dots, as on the wire. `least`, `most`: bounds of a number, of a text's length or
    of a list's length. `choices`: the only possible values, or the possible names in an object."""

    path: str
    kind: str
    default: Any
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def form(self) -> dict[str, Any]:
        """What a form needs: the attributes of an input, its choices, and the meaning of an empty input."""
        attributes: dict[str, Any] = {"choices": list(self.choices)} if self.choices else {}
        if self.kind in {"integer", "number"}:
            attributes |= {
                name: value for name, value in (("min", self.least), ("max", self.most)) if value is not None
            }
        elif self.kind == "string" and self.most is not None:
            attributes["maxlength"] = int(self.most)
        if self.optional and self.kind in {"integer", "number", "string"}:
            attributes["empty"] = None
        return attributes


def setting_fields() -> list[SettingField]:
    """All settings, in the order of the model."""
    schema = CompanyConfig.model_json_schema(by_alias=True)
    defaults = CompanyConfig(company_id="x").model_dump(mode="json", by_alias=True)
    return [field for field in _fields(schema, schema, defaults, "") if field.path != "companyId"]


def _fields(schema: dict[str, Any], node: dict[str, Any], defaults: Any, prefix: str) -> Iterator[SettingField]:
    for name, property_schema in cast("dict[str, dict[str, Any]]", node.get("properties", {})).items():
        forms = [_resolved(schema, form) for form in property_schema.get("anyOf", [property_schema])]
        optional = any(form.get("type") == "null" for form in forms)
        form = next(form for form in forms if form.get("type") != "null")
        path, default = f"{prefix}{name}", cast("dict[str, Any]", defaults or {}).get(name)
        if form.get("type") == "object" and "properties" in form and not optional:
            yield from _fields(schema, form, default, f"{path}.")
            continue
        yield SettingField(
            path=path,
            kind=str(form.get("type", "string")),
            default=default,
            least=_bound(form, "minimum", "minLength", "minItems"),
            most=_bound(form, "maximum", "maxLength", "maxItems"),
            choices=tuple(form.get("enum") or form.get("propertyNames", {}).get("enum", ())),
            optional=optional,
        )


def _resolved(schema: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in form:
        return form
    return cast("dict[str, Any]", schema["$defs"][form["$ref"].rpartition("/")[2]])


def _bound(form: dict[str, Any], *names: str) -> float | None:
    return next((form[name] for name in names if name in form), None)
