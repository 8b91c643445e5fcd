"""The websocket's frames: a frozen schema and golden examples of each, and models that judge as the schemas do."""

from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError

from contracts import ws
from contracts.envelope import Wire
from contracts.schemas import breaking_changes, examples_at, frozen_schema, schema_of_frame

SIDES: dict[str, dict[str, type[Any]]] = {"client": dict(ws.CLIENT_FRAMES), "server": dict(ws.SERVER_FRAMES)}
FRAMES = [(side, kind) for side, frames in SIDES.items() for kind in frames]
EACH = pytest.mark.parametrize(("side", "kind"), FRAMES)


def name_of(side: str, kind: str) -> str:
    return f"ws.{side}.{kind}"


@EACH
def test_has_a_frozen_schema_that_the_model_still_keeps(side: str, kind: str) -> None:
    frozen = frozen_schema(name_of(side, kind), "v1")
    assert frozen is not None, "run `make contracts`"
    assert breaking_changes(frozen, schema_of_frame(kind, SIDES[side][kind])) == []


@EACH
def test_examples_are_judged_alike_by_schema_and_model(side: str, kind: str) -> None:
    found = examples_at(name_of(side, kind), "v1")
    assert {valid for _, valid, _ in found} == {True, False}
    schema = frozen_schema(name_of(side, kind), "v1")
    assert schema is not None
    for name, valid, frame in found:
        assert frame["type"] == kind, name
        assert jsonschema_rs.is_valid(schema, frame) is valid, name
        if frame["v"] == ws.PROTOCOL_VERSION:
            assert _fits(SIDES[side][kind], frame) is valid, name


def _fits(model: type[Wire], frame: dict[str, Any]) -> bool:
    try:
        model.model_validate(frame)
    except ValidationError:
        return False
    return True
