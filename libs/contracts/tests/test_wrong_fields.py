"""What is wrong with a field is said in words."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from contracts.company import CompanyConfig
from contracts.json_values import is_object, list_of
from contracts.wrong_fields import message_of


def test_a_field_that_there_is_not_is_called_so() -> None:
    with pytest.raises(ValidationError) as raised:
        CompanyConfig.model_validate({"companyId": "acme", "greetings": "hi"}, strict=False)
    found = {".".join(map(str, error["loc"])): message_of(error) for error in raised.value.errors()}
    assert found["greetings"] == "there is no such field"


def test_a_part_that_is_no_object_is_called_so() -> None:
    with pytest.raises(ValidationError) as raised:
        CompanyConfig.model_validate({"companyId": "acme", "toolConfig": "all"})
    assert [message_of(error) for error in raised.value.errors()] == ["must be an object"]


def test_each_form_that_a_setting_must_have_is_said_in_words() -> None:
    for pattern in _patterns(CompanyConfig.model_json_schema()):
        error = {"type": "string_pattern_mismatch", "msg": "", "ctx": {"pattern": pattern}}
        assert "form that is asked for" not in message_of(error), pattern


def _patterns(schema: object) -> Iterator[str]:
    if is_object(schema) and isinstance(pattern := schema.get("pattern"), str):
        yield pattern
    for inner in schema.values() if is_object(schema) else list_of(schema):
        yield from _patterns(inner)
