"""Every company setting with its bounds, taken from the model; used by the console's form, the guide's table and the
OpenAPI document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from contracts.company import CompanyConfig


@dataclass(frozen=True, slots=True)
class SettingField:
    """`path` with dots, as on the wire. `least` and `most`: of a number, of a text's characters, or of a list's
    entries. `choices`: the only possible values, or the names of an object."""

    path: str
    kind: str
    default: Any
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def form(self) -> dict[str, Any]:
        """Returns what a form needs: the attributes of an input, its choices, and the meaning of an empty one."""
        found: dict[str, Any] = {"choices": list(self.choices)} if self.choices else {}
        if self.kind in {"integer", "number"}:
            found |= {name: value for name, value in (("min", self.least), ("max", self.most)) if value is not None}
        elif self.kind == "string" and self.most is not None:
            found["maxlength"] = int(self.most)
        if self.optional and self.kind in {"integer", "number", "string"}:
            found["empty"] = None
        return found


def setting_fields() -> list[SettingField]:
    """All of them, in the order of the model."""
    schema = CompanyConfig.model_json_schema(by_alias=True)
    defaults = CompanyConfig(company_id="x").model_dump(mode="json", by_alias=True)
    return [field for field in _fields(schema, schema, defaults, "") if field.path != "companyId"]


def _fields(schema: dict[str, Any], within: dict[str, Any], defaults: Any, above: str) -> Iterator[SettingField]:
    for name, told in cast("dict[str, dict[str, Any]]", within.get("properties", {})).items():
        forms = [_resolved(schema, one) for one in told.get("anyOf", [told])]
        optional = any(one.get("type") == "null" for one in forms)
        form = next(one for one in forms if one.get("type") != "null")
        path, default = f"{above}{name}", cast("dict[str, Any]", defaults or {}).get(name)
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
