"""Errors in the language of whoever is told."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_core._pydantic_core import list_all_errors

import contracts
import gateway
from contracts.agent_rpc import SUGGEST
from contracts.company_rpc import COMPANY_PATCH
from contracts.conversation_rpc import SNAPSHOT
from contracts.failed_rpc import FAILED_TURNS
from contracts.market_rpc import ACTION_DECIDE, HOLDINGS
from contracts.preview_rpc import SITE_CHECK
from contracts.rpc import Method
from contracts.tools_rpc import OWN_ACTION_DECIDE
from contracts.wrong_fields import message_of
from gateway.adapters.service_calls import gateway_error
from gateway.domain.error_language import in_language
from gateway.texts import TEXTS
from runtime.errors import RpcError

ERRORS = {
    "RefusedError": 1,
    "UnavailableError": 0,
    "RateLimitedError": 0,
    "TokenInvalidError": 0,
    "TokenExpiredError": 0,
    "FrameError": 1,
    "bad_field": 1,
    "_conflict": 0,
}
OF_MEMORY = {"BadKnowledgeError": 0, "NoSuchKnowledgeError": 0, "IdentityRefusedError": 0, "SignInRefusedError": 1}
"""What memory refuses, which the gateway hands on in its words."""
SETTINGS = ("company.py", "office_hours.py", "own_tools.py", "team.py")
"""Where contracts say what is wrong with a company's settings."""
TO_PEOPLE = (
    *("adapters", "chat", "domain", "handlers.py", "web"),
    *("doors/agui", "doors/ui", "doors/approvals.py", "doors/client_tools.py", "doors/messages.py"),
)
"""Where what is raised is said to people and their pages; behind the other doors are programs, which read English."""


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("there is no such conversation", "no existe esa conversación"),
        ("too many messages: try again in 12 s", "demasiados mensajes: inténtalo de nuevo dentro de 12 s"),
        ("text: at most 8000 characters, this has 8001", "text: como mucho 8000 caracteres; este texto tiene 8001"),
        ("owner: must be 'human' or 'ai'", "owner: debe ser 'human' o 'ai'"),
        ("rating: must be 'a', 'b' or 'c'", "rating: debe ser 'a', 'b' o 'c'"),
        (
            "temperature: must be 2 or less; name: must have at least 2 characters",
            "temperature: debe ser 2 o menos; name: debe tener al menos 2 caracteres",
        ),
        ("assistant.greeting.español.[key]: is required", "assistant.greeting.español.[key]: es obligatorio"),
        (
            "messages[0].parts[0]: the name says .png, but the content is something else (text/plain)",
            "messages[0].parts[0]: "
            + TEXTS["file.other_content"].format(ending="png", media="text/plain").in_language("es"),
        ),
        ("a text that nobody has put into Spanish", "a text that nobody has put into Spanish"),
        ("there is no frame of type '{0}; {}'", "no existe ningún mensaje de tipo '{0}; {}'"),
    ],
)
def test_a_text_is_put_into_spanish_with_what_stands_in_it(english: str, spanish: str) -> None:
    assert in_language(english, "es") == spanish
    assert in_language(english, "en") == in_language(english, None) == english


def test_whatever_may_be_wrong_with_a_field_is_told_in_spanish() -> None:
    filled = {"expected": "'a' or 'b'", "expected_tags": "'a', 'b'", "discriminator": "'kind'"}
    said = {
        message_of({"type": error["type"], "msg": "", "loc": place, "ctx": (error["example_context"] or {}) | filled})
        for error in list_all_errors()
        for place in (("body",), ("body", "name"))
    }
    said |= {
        message_of({"type": kind, "msg": "", "ctx": {"min_length": 1}}) for kind in ("too_short", "string_too_short")
    }
    said -= {""}  # what a validator says itself
    assert len(said) > 35
    assert sorted(one for one in said if in_language(one, "es") == one) == []


def test_whatever_is_wrong_with_a_file_is_told_in_spanish() -> None:
    numbers = {"megabytes": 1, "seconds": 1.0, "most": 1, "width": 1, "height": 2, "millions": 3}
    texts = [
        text.format(**numbers, ending="a", media="b", why="the file is empty", taken="c")
        for text in TEXTS.section("file").values()
    ]
    assert [in_language(str(text), "es") for text in texts[:-1]] == [text.in_language("es") for text in texts[:-1]]


def test_whatever_keeps_a_page_or_document_from_being_read_is_told_in_spanish() -> None:
    executor = Path(gateway.__file__).parents[3] / "tool-executor" / "src" / "tool_executor"
    texts = tomllib.loads((executor / "texts" / "en.toml").read_text(encoding="utf-8"))
    crawl = ast.parse((executor / "crawl" / "words.py").read_text(encoding="utf-8"))
    said = next(ast.literal_eval(one.value) for one in crawl.body if isinstance(one, ast.Assign))
    of_files = {"gone", "unreadable_kind"}  # told in the conversation, in its language
    of_tools = {"no_text", "not_found", "not_text"}  # told to the model
    said |= {name: text for name, text in texts["document"].items() if name not in of_files}
    said |= {f"page {name}": text for name, text in texts["page"].items() if name not in of_tools}
    filled = [re.sub(r"\{.*?\}", "7", text) for text in said.values()]
    assert [text for text in filled if in_language(text, "es") == text] == []


@pytest.mark.parametrize(
    ("method", "missing"),
    [
        (SITE_CHECK, "pages"),
        (FAILED_TURNS, "turns"),
        (SUGGEST, "model"),
        (HOLDINGS, "market"),
        (SNAPSHOT, "companies"),
        (ACTION_DECIDE, "whether this was done"),
        (OWN_ACTION_DECIDE, "whether this was done"),
        (COMPANY_PATCH, "whether this was stored"),
    ],
)
def test_a_service_that_does_not_answer_is_told_as_what_is_missing(method: Method, missing: str) -> None:
    said = str(gateway_error(method, RpcError("TIMEOUT", "no reply")))
    assert missing in said
    assert in_language(said, "es") != said


def test_every_error_that_people_are_told_has_its_spanish() -> None:
    said = set(_raised())
    said |= {text for place in SETTINGS for text in _texts(Path(contracts.__file__).parent / place, {"ValueError": 0})}
    said |= set(_texts(Path(gateway.__file__).parent / "web" / "desk.py", {"ValueError": 0}))
    memory = Path(gateway.__file__).parents[3] / "memory" / "src" / "memory"
    said |= {text for file in memory.rglob("*.py") for text in _texts(file, OF_MEMORY)}
    assert len(said) > 80
    assert sorted(one for one in said if in_language(one, "es") == one) == []


def _raised() -> Iterator[str]:
    source = Path(gateway.__file__).parent
    for file in source.rglob("*.py"):
        place = f"{file.relative_to(source).as_posix()}/"
        if (
            not place.startswith(tuple(f"{one}/" for one in TO_PEOPLE))
            or file.name in {"completions.py", "chat_completions.py"}
            or "mcp" in file.name
        ):
            continue
        yield from _texts(file, ERRORS)


def _texts(file: Path, errors: dict[str, int]) -> Iterator[str]:
    tree = ast.parse(file.read_text())
    named = {one.targets[0].id: _text(one.value) for one in tree.body
             if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)}  # fmt: skip
    for node in ast.walk(tree):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if isinstance(node, ast.Call) and name == "not_found":
            yield f"there is no such {_text(node.args[0])}"
        elif isinstance(node, ast.Call) and name in errors and len(node.args) > errors[name]:
            given = node.args[errors[name]]
            text = named.get(given.id, "") if isinstance(given, ast.Name) else _text(given)
            # What is wrong with a field is said by whoever has found it.
            if text and not text.endswith(": x"):
                yield text


def _text(node: ast.expr) -> str:
    """The text of a literal, with an x for each thing put into it; of anything else nothing."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
