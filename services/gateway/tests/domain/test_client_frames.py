import json
from typing import Any

import pytest

from contracts.errors import ErrorCode
from contracts.schemas import examples_at
from contracts.ws import CLIENT_FRAMES, Hello, MessageSend
from gateway.domain.client_frames import (
    FrameError,
    NotJsonError,
    parse_frame,
    reference,
)

ID = "018f7e2a-7c0d-7b5e-8a9b-0c1d2e3f4a5b"


def frame(kind: str, **fields: Any) -> str:
    return json.dumps({"v": 1, "type": kind, **fields})


@pytest.mark.parametrize("kind", list(CLIENT_FRAMES))
def test_every_documented_frame_is_understood(kind: str) -> None:
    good = [each for _, valid, each in examples_at(f"ws.client.{kind}", "v1") if valid]
    assert good
    assert all(isinstance(parse_frame(json.dumps(each)), CLIENT_FRAMES[kind]) for each in good)


def test_fields_of_a_newer_client_are_ignored() -> None:
    assert isinstance(parse_frame(frame("ping", colour="blue")), CLIENT_FRAMES["ping"])


@pytest.mark.parametrize("text", ["{no", "", "[1,2]", '"text"', "7", "null", "NaN", '{"v":1,"type":"ping"} x'])
def test_what_is_no_json_object_closes_the_socket(text: str) -> None:
    with pytest.raises(NotJsonError):
        parse_frame(text)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("cut \\ud83d", "cut \ufffd"),
        ("\\udE00 first", "\ufffd first"),
        ("whole \\ud83d\\ude00", "whole 😀"),
        ("whole 😀 and \\ud83d", "whole 😀 and \ufffd"),
    ],
)
def test_half_an_emoji_is_replaced(sent: str, text: str) -> None:
    wire = f'{{"v":1,"type":"message.send","clientMessageId":"{ID}","text":"{sent}"}}'
    for form in (wire, wire.encode()):
        parsed = parse_frame(form)
        assert isinstance(parsed, MessageSend)
        assert parsed.text == text


@pytest.mark.parametrize("text", ['{"\\ud800":', "[" * 5000 + '"\\ud800"' + "]" * 5000])
def test_half_an_emoji_makes_no_json_of_what_is_none(text: str) -> None:
    with pytest.raises(NotJsonError):
        parse_frame(text)


def test_a_pages_title_and_address_are_cut() -> None:
    address = f"https://x.test/{'x' * 2048}"
    for kind, told in (("hello", {"token": "t"}), ("message.send", {"clientMessageId": ID, "text": "hi"})):
        parsed = parse_frame(frame(kind, **told, page={"url": address, "title": "x" * 301}))
        assert isinstance(parsed, Hello | MessageSend)
        assert parsed.page is not None
        assert parsed.page.title == "x" * 300
        assert parsed.page.url == address[:2048]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (frame("no.such"), ErrorCode.UNKNOWN_TYPE),
        ('{"v":1}', ErrorCode.UNKNOWN_TYPE),
        ('{"v":1,"type":7}', ErrorCode.UNKNOWN_TYPE),
        ('{"v":2,"type":"ping"}', ErrorCode.BAD_FIELD),
        (frame("message.send", clientMessageId=ID, text="x" * 8001), ErrorCode.TEXT_TOO_LONG),
        (frame("message.send", clientMessageId=ID, text=""), ErrorCode.EMPTY_TEXT),
        (frame("message.send", clientMessageId=ID, text=" \n\t"), ErrorCode.EMPTY_TEXT),
        (frame("message.send", clientMessageId=ID, text="\u200b \u2060\ufeff"), ErrorCode.EMPTY_TEXT),
        (frame("message.send", clientMessageId=ID, text="\u3164\u2800 \ufe0f\u034f"), ErrorCode.EMPTY_TEXT),
        (frame("message.send", clientMessageId=ID, text="hi", retry="yes"), ErrorCode.BAD_FIELD),
        (frame("receipt", upToSeq="3"), ErrorCode.BAD_FIELD),
        (frame("receipt", upToSeq=True), ErrorCode.BAD_FIELD),
        (frame("hello", token="t", since={"epoch": "e", "seq": "1"}), ErrorCode.BAD_FIELD),
        (frame("message.send", clientMessageId=ID, text=7), ErrorCode.BAD_FIELD),
        (frame("message.send", clientMessageId=ID), ErrorCode.BAD_FIELD),
        (frame("message.send", text="hi"), ErrorCode.BAD_FIELD),
        (frame("message.send", clientMessageId="not-a-uuid", text="hi"), ErrorCode.BAD_FIELD),
        (frame("message.send", clientMessageId=ID + "\n", text="hi"), ErrorCode.BAD_FIELD),
        (frame("receipt", upToSeq=-1), ErrorCode.BAD_FIELD),
        (frame("run.cancel"), ErrorCode.BAD_FIELD),
        (frame("feedback", messageId="m", rating="meh"), ErrorCode.BAD_FIELD),
    ],
)
def test_a_bad_frame_has_its_documented_code(text: str, code: ErrorCode) -> None:
    with pytest.raises(FrameError) as error:
        parse_frame(text)
    assert error.value.code == code
    assert "pattern" not in error.value.message, "a regular expression is no word"
    assert "None" not in error.value.message


@pytest.mark.parametrize("text", ["\U0001fae8", "\U0001faea", "\u200bhi", "👩\u200d🚀", "."])
def test_what_can_be_seen_is_not_empty(text: str) -> None:
    assert parse_frame(frame("message.send", clientMessageId=ID, text=text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (frame("message.send", clientMessageId="no", text="hi"), "clientMessageId: must be a UUID such as"),
        (frame("run.cancel", turnId="a b"), "turnId: must be 1 to 64 plain letters"),
    ],
)
def test_a_bad_field_is_told_in_words_and_not_as_a_regular_expression(text: str, says: str) -> None:
    with pytest.raises(FrameError) as error:
        parse_frame(text)
    assert error.value.message.startswith(says)


@pytest.mark.parametrize("identity", ["a.b", "a b", "*", ">", "", "x" * 65, "ñ", "a\n"])
def test_an_id_that_could_not_be_a_subject_token_is_refused(identity: str) -> None:
    for kind, name in [("hello", "conversationId"), ("run.cancel", "turnId"), ("owner.take", "conversationId")]:
        with pytest.raises(FrameError) as error:
            parse_frame(frame(kind, **{name: identity}))
        assert error.value.code == ErrorCode.BAD_FIELD


def test_eight_thousand_characters_are_not_too_long() -> None:
    parsed = parse_frame(frame("message.send", clientMessageId=ID, text="ñ" * 8000))
    assert isinstance(parsed, MessageSend)


def test_an_error_names_what_the_frame_was_about() -> None:
    with pytest.raises(FrameError) as error:
        parse_frame(frame("message.send", clientMessageId=ID, text=""))
    assert error.value.ref == ID
    assert not error.value.in_hello
    assert reference(parse_frame(frame("run.cancel", turnId="t9"))) == "t9"
    assert reference(parse_frame(frame("ping"))) is None


def test_a_bad_hello_is_still_a_hello() -> None:
    with pytest.raises(FrameError) as error:
        parse_frame(frame("hello", token="t", conversationId="a.b"))
    assert error.value.in_hello


def test_a_hello_without_a_token_is_a_hello_with_a_bad_token() -> None:
    parsed = parse_frame(frame("hello"))
    assert isinstance(parsed, Hello)
    assert parsed.token == ""
