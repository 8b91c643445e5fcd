"""What is wrong with a field is said in words."""

import pytest
from pydantic import ValidationError

from contracts.company import CompanyConfig
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
