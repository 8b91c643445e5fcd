"""JSON Schemas as documents of an interface hold them (OpenAPI, AsyncAPI)."""

from contracts.json_values import JsonObject, object_of


def resolved(schema: JsonObject, document: JsonObject) -> JsonObject:
    """The schema itself, where this one only refers to another place of the document."""
    while "$ref" in schema:
        found: object = document
        for step in str(schema["$ref"]).removeprefix("#/").split("/"):
            found = object_of(found)[step]
        schema = object_of(found)
    return schema
