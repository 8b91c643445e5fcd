"""Every event, request and reply of the previous release is read by this one, with a field of tomorrow as well."""

from typing import Any, cast

import pytest

from contracts.envelope import CloudEvent
from contracts.events.registry import EVENTS
from contracts.methods import METHODS
from contracts.tools_rpc import tool_service
from tests.upgrade.golden_files import Json, golden, with_more

_EVENTS = {event.type: event for event in EVENTS}
_METHODS = {method.subject: method for method in METHODS}
MORE = pytest.mark.parametrize("more", [False, True], ids=["as it is", "with one field more at every place"])


@MORE
@pytest.mark.parametrize(("name", "written"), golden("events").items())
def test_an_event_of_the_previous_release_is_read_for_what_it_says(name: str, written: Any, more: bool) -> None:
    body = written["event"]
    read = CloudEvent[_EVENTS[name].data].model_validate(with_more(body) if more else body)
    assert not _missing(body["data"], read.data.model_dump(mode="json", by_alias=True))


@MORE
@pytest.mark.parametrize(("subject", "call"), golden("methods").items())
def test_a_call_of_the_previous_release_is_read_on_both_sides(subject: str, call: Any, more: bool) -> None:
    method = _METHODS.get(subject) or tool_service(subject.split(".")[2], "any")
    for side, model in (("request", method.request), ("reply", method.reply)):
        read = model.model_validate(with_more(call[side]) if more else call[side])
        assert not _missing(call[side], read.model_dump(mode="json", by_alias=True))


def _missing(written: Any, read: Any, at: str = "") -> list[str]:
    """Where the reader holds less than was written, or another number; texts may be put otherwise (times, decimals)."""
    if isinstance(written, dict) and isinstance(read, dict):
        old, new = cast("Json", written), cast("Json", read)
        lost = [f"{at}.{name}" for name in old if name not in new and old[name] is not None]
        return lost + [one for name in old if name in new for one in _missing(old[name], new[name], f"{at}.{name}")]
    if isinstance(written, list) and isinstance(read, list):
        ones, others = cast("list[Any]", written), cast("list[Any]", read)
        short = [] if len(ones) == len(others) else [at]
        return short + [each for one, other in zip(ones, others, strict=False) for each in _missing(one, other, at)]
    same_kind = type(cast("object", written)) is type(cast("object", read))
    return [] if written == read or isinstance(written, str) or not same_kind else [at]
