"""Which of several answers to one tool call ends the wait."""

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.tool import ToolCallCompleted, ToolError, ToolMetadata, ToolResult
from runtime.calls.call_answers import CallAnswers, decisive_reply


def reply(subject: str, code: ToolCode | None = None, reason: str | None = None) -> Msg:
    error = None if code is None else ToolError(code=code, message="-", reason=reason)
    result = ToolResult(success=error is None, error=error, metadata=ToolMetadata(execution_time=1.0))
    completed = ToolCallCompleted(call_id="c", tool="t", arguments={}, result=result)
    event = CloudEvent(source="/nexus/tool-executor", type="tools.call.completed.v1", data=completed)
    return Msg(Client(), subject, "", event.to_json())


def asked(*names: str) -> CallAnswers:
    answers = CallAnswers()
    for name in names:
        answers.expect(name)
    return answers


def test_the_only_answer_is_the_last_whatever_it_says() -> None:
    assert asked("a")(reply("a"))
    assert asked("a")(reply("a", ToolCode.UNAVAILABLE))
    assert asked("a")(Msg(Client(), "a", "", b"no event"))


def test_what_is_recorded_stands_for_every_request() -> None:
    assert asked("a", "b")(reply("a"))
    assert asked("a", "b")(reply("b", ToolCode.EXECUTION_ERROR))
    assert not asked("a", "b")(reply("a", ToolCode.TIMEOUT, OUTCOME_UNKNOWN)), "the other request looks it up"


def test_a_refusal_is_the_last_when_every_request_has_its_answer() -> None:
    for code in (ToolCode.UNAVAILABLE, ToolCode.RATE_LIMIT, ToolCode.PLAN_REQUIRED, ToolCode.TOOL_NOT_FOUND):
        answers = asked("a", "b")
        assert not answers(reply("a", code))
        assert not answers(reply("a", code)), "a request that is carried out twice has one answer"
        assert answers(reply("b", code))


def test_the_answer_that_counts_is_the_one_that_stands() -> None:
    away, done = reply("a", ToolCode.UNAVAILABLE), reply("b")
    assert decisive_reply([away, done]) is decisive_reply([done, away]) is done
    assert decisive_reply([done, away, reply("c", ToolCode.RATE_LIMIT)]) is done
    newest = reply("c", ToolCode.RATE_LIMIT)
    assert decisive_reply([away, newest]) is newest


def test_what_a_request_may_have_done_is_not_taken_back_by_one_that_has_done_nothing() -> None:
    perhaps, away = reply("a", ToolCode.UNAVAILABLE, OUTCOME_UNKNOWN), reply("b", ToolCode.UNAVAILABLE, "store")
    assert decisive_reply([perhaps, away]) is decisive_reply([away, perhaps]) is perhaps
    done = reply("c")
    assert decisive_reply([perhaps, away, done]) is done
    assert decisive_reply([perhaps, Msg(Client(), "b", "", b"no event")]) is perhaps
