"""The reference of the HTTP API and the chat's frames as HTML, generated from their documents."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from contracts.languages import Language
from contracts.schemas import schema_of_frame
from contracts.ws import CLIENT_FRAMES, SERVER_FRAMES
from gateway.web.docs.guide import GuideSection
from gateway.web.docs.schemas import Schema, Schemas, named
from gateway.web.field_words import complete, examples

_VERSIONS = frozenset({"v1", "v2"})
_CODE = re.compile(r"``?([^`]+)``?")
_SCHEMA_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Chapter:
    """The operations whose paths begin with the same word, or the frames of the websocket. `body` is HTML."""

    slug: str
    names: tuple[str, ...]
    body: str
    sections: tuple[GuideSection, ...]


def chapter_path(language: Language, slug: str) -> str:
    return f"/docs/{language}/api/{slug}"


def chapters(document: dict[str, Any]) -> list[Chapter]:
    """A chapter for each first word of the paths in the OpenAPI document, and one about the frames of the websocket."""
    schemas, responses = Schemas(document["components"]["schemas"], examples()), document["components"]["responses"]
    grouped = dict[str, list[tuple[str, str, Schema]]]()
    for path, operations in document["paths"].items():
        word = next(part for part in path.split("/") if part and part not in _VERSIONS)
        grouped.setdefault("a2a" if word == ".well-known" else word, []).extend(
            (method, path, _with_responses(operation, responses)) for method, operation in operations.items()
        )
    return [*(_chapter(slug, grouped[slug], schemas) for slug in sorted(grouped)), _frames()]


def _with_responses(operation: Schema, shared: dict[str, Schema]) -> Schema:
    operation_responses = cast("dict[str, Schema]", operation["responses"])
    return operation | {
        "responses": {
            status: shared[named(response)] if "$ref" in response else response
            for status, response in operation_responses.items()
        }
    }


def _chapter(slug: str, operations: list[tuple[str, str, Schema]], schemas: Schemas) -> Chapter:
    names = [f"{method.upper()} {path}" for method, path, _ in operations]
    used = schemas.used(*(operation for _, _, operation in operations))
    parts = (_operation(name, operation, schemas) for name, (_, _, operation) in zip(names, operations, strict=True))
    body = "".join(parts) + "".join(_schema(name, schemas) for name in used)
    path = chapter_path("en", slug)
    sections = [
        GuideSection(
            f"{path}#{_id(name)}", slug, name, f"{details.get('summary', '')}. {details.get('description', '')}"
        )
        for name, (_, _, details) in zip(names, operations, strict=True)
    ]
    sections += [_search_section(path, slug, name, schemas.named[name]) for name in used]
    return Chapter(slug, tuple(names), body, tuple(sections))


def _search_section(path: str, page: str, name: str, schema: Schema) -> GuideSection:
    fields = cast("dict[str, Schema]", schema.get("properties", {}))
    texts = (f"{field}: {field_schema.get('description', '')}" for field, field_schema in fields.items())
    return GuideSection(f"{path}#{_id(name)}", page, _short(name), " ".join([schema.get("description", ""), *texts]))


def _operation(name: str, operation: Schema, schemas: Schemas) -> str:
    method, _, path = name.partition(" ")
    parts = [
        f'<section id="{_id(name)}" class="operation"><h2><span class="method">{method}</span> '
        f"<code>{escape(path)}</code></h2>{_text(operation.get('description') or operation.get('summary', ''))}"
    ]
    if parameters := operation.get("parameters"):
        parts.append("<h3>Parameters</h3>")
        parts.append(_list(_parameter(parameter, schemas) for parameter in parameters))
    if body := operation.get("requestBody"):
        parts.append("<h3>Body</h3>" + _contents(body.get("content", {}), schemas))
    for status, response in operation.get("responses", {}).items():
        parts.append(f"<h3>{status}</h3>{_text(response.get('description', ''))}")
        if headers := response.get("headers"):
            parts.append(f"<p>{' '.join(f'<code>{escape(name)}</code>' for name in headers)}</p>")
        parts.append(_contents(response.get("content", {}), schemas, with_example=status.startswith("2")))
    return "".join(parts) + "</section>"


def _parameter(parameter: Schema, schemas: Schemas) -> str:
    schema = {**parameter.get("schema", {}), "description": parameter.get("description", "")}
    return _field(parameter["name"], schema, parameter.get("required", False), schemas, parameter["in"])


def _contents(contents: dict[str, Any], schemas: Schemas, *, with_example: bool = True) -> str:
    parts = list[str]()
    for media_type, content in contents.items():
        schema = cast("Schema", content.get("schema") or {})
        parts.append(f"<p><code>{escape(media_type)}</code> {_kind(schemas.kind(schema))}</p>")
        if "properties" in schema:
            parts.append(_fields(schema, schemas))
        if with_example and media_type.endswith("json") and schema:
            parts.append(f"<pre><code>{escape(_json(schemas.example(schema)))}</code></pre>")
    return "".join(parts)


def _schema(name: str, schemas: Schemas) -> str:
    schema = schemas.named[name]
    head = f'<section id="{_id(name)}" class="schema"><h2><code>{escape(_short(name))}</code></h2>'
    return head + _text(schema.get("description", "")) + _fields(schema, schemas) + "</section>"


def _fields(schema: Schema, schemas: Schemas) -> str:
    required = schema.get("required", ())
    fields = cast("dict[str, Schema]", schema.get("properties", {}))
    if not fields:
        return f"<p>{_kind(schemas.kind(schema))} {_bounds_html(schemas.bounds(schema))}</p>"
    return _list(_field(name, field_schema, name in required, schemas) for name, field_schema in fields.items())


def _list(rows: Iterable[str]) -> str:
    return f'<dl class="fields">{"".join(rows)}</dl>'


def _field(name: str, schema: Schema, required: bool, schemas: Schemas, place: str = "") -> str:
    notes = ["required"] if required else []
    notes += [place] if place else []
    bounds = schemas.bounds(schema)
    if schema.get("default") is not None:
        bounds.append(f"default: {json.dumps(schema['default'], ensure_ascii=False)}")
    if (example := _plain_example(schemas.example(schema, name))) is not None:
        bounds.append(f"example: {example}")
    kind = " · ".join([_kind(schemas.kind(schema)), *notes])
    return (
        f'<dt><code>{escape(name)}</code> <span class="kind">{kind}</span></dt>'
        f"<dd>{_text(schema.get('description', ''))}{_bounds_html(bounds)}</dd>"
    )


def _plain_example(value: Any) -> str | None:
    return None if isinstance(value, dict | list) or value is None else json.dumps(value, ensure_ascii=False)


def _bounds_html(bounds: list[str]) -> str:
    return f'<p class="bounds">{escape(" · ".join(bounds))}</p>' if bounds else ""


def _kind(text: str) -> str:
    return _SCHEMA_NAME.sub(lambda match: f'<a href="#{_id(match[1])}">{_short(match[1])}</a>', escape(text))


def _text(text: str) -> str:
    paragraphs = (
        _CODE.sub(r"<code>\1</code>", escape(paragraph)) for paragraph in text.split("\n\n") if paragraph.strip()
    )
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _short(name: str) -> str:
    """The name without the module prefix that distinguishes equal names."""
    return name.rpartition("__")[2]


def _id(name: str) -> str:
    return "-".join(re.findall(r"\w+", name)).lower()


def _frames() -> Chapter:
    """The chapter about the frames of the chat's websocket, in both directions."""
    path, parts, names, sections = chapter_path("en", "frames"), list[str](), list[str](), list[GuideSection]()
    named_schemas = dict[str, Schema]()
    for side, table in (("client", CLIENT_FRAMES), ("server", SERVER_FRAMES)):
        parts.append(f"<h2>From the {side}</h2>")
        for kind, model in table.items():
            schema = complete(schema_of_frame(kind, model))
            named_schemas |= schema.get("$defs", {})
            schemas = Schemas(named_schemas, examples())
            name = f"{side} {kind}"
            names.append(name)
            sections.append(_search_section(path, "frames", name, schema))
            head = f'<section id="{_id(name)}" class="operation"><h2><code>{escape(kind)}</code></h2>'
            example_json = escape(_json(schemas.example(schema)))
            parts += [head, _text(schema.get("description", "")), _fields(schema, schemas)]
            parts.append(f"<pre><code>{example_json}</code></pre></section>")
    schemas = Schemas(named_schemas, examples())
    parts.extend(_schema(name, schemas) for name in named_schemas)
    return Chapter("frames", tuple(names), "".join(parts), tuple(sections))
