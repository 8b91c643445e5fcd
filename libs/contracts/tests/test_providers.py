"""Providers of models: each is one row, and everything that must know of it follows from the row."""

from itertools import chain

import pytest

from contracts.company import CompanyConfig, faults, read_config
from contracts.providers import KEYED, KEYS, NAMES
from contracts.schemas import breaking_changes
from deploy.documents import KEY_LINES, KEYS_BEGIN, with_keys


def test_rows_are_told_apart_by_name_and_key_and_priced_by_a_list() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len(set(KEYS.values())) == len(KEYS)
    for provider in KEYED.values():
        names = [name for model in provider.models for name in (model.name, *model.aliases)]
        assert names
        assert len(set(names)) == len(names)
        assert provider.prices is not None or all(model.price is None for model in provider.models)
        assert provider.address.startswith("https://")


def test_people_can_choose_a_provider_of_the_registry_alone() -> None:
    for name in NAMES:
        assert faults({"companyId": "acme", "preferredProvider": name}) == []
    (fault,) = faults({"companyId": "acme", "preferredProvider": "grok"})
    assert fault.field == "preferredProvider"
    assert fault.message == "must be 'groq', 'openai', 'anthropic', 'compatible' or 'offline'"
    assert [fault.field for fault in faults({"companyId": "acme", "preferredProvider": 1})] == ["preferredProvider"]


def test_a_stored_provider_is_read_whatever_its_name_and_stays_when_others_change() -> None:
    stored = {"companyId": "acme", "aiAutoResponseEnabled": True, "preferredProvider": "provider-of-yesterday"}
    config = read_config(stored)
    assert (config.preferred_provider, config.ai_auto_response_enabled) == ("provider-of-yesterday", True)
    assert config.to_wire()["preferredProvider"] == "provider-of-yesterday"
    assert faults({**stored, "temperature": 0.1}, stored) == []


def test_the_frozen_list_of_providers_gave_way_to_any_word_and_to_no_other_change() -> None:
    new = CompanyConfig.model_json_schema(by_alias=True)
    field = new["properties"]["preferredProvider"]
    assert (field["type"], "enum" in field) == ("string", False)

    def frozen(**listed: object) -> dict[str, object]:
        before = {"enum": ["groq", "openai", "anthropic", "compatible", "offline"], **field, **listed}
        return {**new, "properties": {**new["properties"], "preferredProvider": before}}

    assert breaking_changes(frozen(**{"x-open": True}), new) == []
    assert breaking_changes(frozen(), new) == ["/properties/preferredProvider/enum: removed"]


@pytest.mark.parametrize("line", [*chain.from_iterable(KEY_LINES.values())])
def test_files_of_deployments_get_a_line_for_each_key(line: str) -> None:
    old = line.replace("KEY", "GONE_API_KEY")
    text = f"a: 1\n  {KEYS_BEGIN}\n{old}\n{old}\nb: 2\n"
    lines = "".join(line.replace("KEY", key) + "\n" for key in KEYS.values())
    assert with_keys(text, [line]) == f"a: 1\n  {KEYS_BEGIN}\n{lines}b: 2\n"
    with pytest.raises(SystemExit, match="0 times"):
        with_keys("a: 1\n", [line])
