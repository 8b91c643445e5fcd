"""Arguments: one spelling, defaults, what is hidden from the log, the token budget."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import ID_PATTERN
from contracts.text import Text
from contracts.tools.arguments import NOT_BLANK, SYMBOL_PATTERN
from tool_executor.adapters.json_schema import CompiledSchema
from tool_executor.adapters.page_text import readable_text
from tool_executor.domain.defaults import with_defaults
from tool_executor.domain.fingerprint import canonical, fingerprint
from tool_executor.domain.redaction import masked
from tool_executor.domain.token_budget import cut

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_order_of_names_makes_no_difference(arguments: dict[str, Any]):
    turned = dict(reversed(list(arguments.items())))
    assert fingerprint("t", arguments) == fingerprint("t", turned)
    assert fingerprint("t", arguments) != fingerprint("u", arguments)


def test_other_arguments_have_another_spelling():
    different: list[dict[str, Any]] = [{}, {"a": 1}, {"a": "1"}, {"a": None}, {"a": True}, {"a": [1]}, {"a": 1.5}]
    assert len({canonical(arguments) for arguments in different}) == len(different)
    assert canonical({"a": 1.0, "b": [{"c": 2.0}]}) == canonical({"b": [{"c": 2}], "a": 1})


def test_defaults_fill_what_is_missing_and_change_nothing_given():
    schema = {"properties": {"limit": {"default": 5}, "flag": {"default": True}, "name": {}}}
    assert with_defaults({"flag": False, "other": 1}, schema) == {"limit": 5, "flag": False, "other": 1}


@pytest.mark.parametrize(
    ("given_", "logged"),
    [
        ({"password": "x", "apiKey": "x", "api_key": "x", "access_token": "x"}, "***"),
        ({"client_secret": {"deep": 1}, "Authorization": "x", "cookie": ["x"]}, "***"),
    ],
)
def test_secrets_are_masked_by_the_name_of_the_field(given_: dict[str, Any], logged: str):
    assert set(masked(given_).values()) == {logged}


def test_secrets_are_masked_by_their_look_at_any_depth():
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
    assert masked({"a": [{"b": f"x {token} y"}]}) == {"a": [{"b": "x *** y"}]}
    assert masked({"a": "Bearer abcdefgh12345678"}) == {"a": "Bearer ***"}
    assert masked({"symbol": "AAPL", "path": "/pricing", "limit": 5}) == {
        "symbol": "AAPL",
        "path": "/pricing",
        "limit": 5,
    }


@given(st.text(max_size=400), st.integers(min_value=1, max_value=50))
def test_a_cut_text_is_the_beginning_of_the_text(text: str, budget: int):
    kept, was_cut = cut(text, budget)
    assert text.startswith(kept)
    assert was_cut or kept == text
    assert cut(kept, budget) == (kept, False)


def test_a_page_is_read_in_order_with_its_structure():
    html = "<title>T</title><h2>Plans</h2><ul><li>Free<li>Pro</ul><p>a<br>b<table><tr><td>1<td>2</table><footer>Tel 1"
    assert readable_text(html).text == "## Plans\n- Free\n- Pro\na\nb\n1 | 2\nTel 1"


def test_what_people_cannot_see_is_not_read():
    hidden = (
        "<script>s</script><style>s</style><template>s</template><noscript>s</noscript><!-- s -->"
        "<p hidden>s</p><div aria-hidden=true><p>s</p></div><p style='Display : None'>s</p><svg><text>s</text></svg>"
    )
    assert readable_text(f"<body>{hidden}<p>seen</p></body>").text == "seen"


@pytest.mark.parametrize(
    ("asked", "value", "es", "en"),
    [
        ({"type": ["null", "integer"]}, "x", "debe ser un número entero o null", "must be an integer or null"),
        ({"enum": ["buy", "sell"]}, "hold", "debe ser uno de estos valores: buy, sell", "must be one of: buy, sell"),
        ({"const": True}, 2, "debe ser true", "must be true"),
        ({"minimum": 0.5}, 0, "debe ser 0.5 o más", "must be 0.5 or more"),
        ({"maximum": 3}, 4, "debe ser 3 o menos", "must be 3 or less"),
        ({"exclusiveMinimum": 0}, 0, "debe ser mayor que 0", "must be greater than 0"),
        ({"exclusiveMaximum": 9}, 9, "debe ser menor que 9", "must be less than 9"),
        ({"multipleOf": 2}, 3, "debe ser múltiplo de 2", "must be a multiple of 2"),
        ({"minLength": 2}, "a", "debe tener al menos 2 caracteres", "must have at least 2 characters"),
        ({"minLength": 1}, "", "no puede estar vacío", "must not be empty"),
        ({"maxItems": 1}, [1, 2], "debe tener como mucho un elemento", "must have at most one item"),
        ({"maxLength": 2}, "abc", "debe tener como mucho 2 caracteres", "must have at most 2 characters"),
        ({"maximum": 1e15}, 1e16, "debe ser 1000000000000000 o menos", "must be 1000000000000000 or less"),
        ({"pattern": "^a{2}$"}, "b", "no tiene la forma que se pide", "does not have the form that is asked for"),
        (
            {"pattern": "^a{2}$", "description": "Two a"},
            "b",
            "no tiene la forma que se pide: Two a",
            "does not have the form that is asked for: Two a",
        ),
        ({"type": "string"}, None, "no puede ser null: debe ser un texto", "must not be null: must be a string"),
        ({"minItems": 2}, [], "debe tener al menos 2 elementos", "must have at least 2 items"),
        ({"maxItems": 2}, [1, 2, 3], "debe tener como mucho 2 elementos", "must have at most 2 items"),
        ({"uniqueItems": True}, [1, 1], "no debe tener elementos repetidos", "must have no item twice"),
    ],
)
def test_what_a_schema_asks_for_is_said_in_both_languages(asked: dict[str, Any], value: Any, es: str, en: str):
    (problem,) = CompiledSchema({"type": "object", "properties": {"a": asked}}).problems({"a": value})
    assert (problem.field, problem.message) == ("a", Text(es=es, en=en))


@pytest.mark.parametrize("pattern", [SYMBOL_PATTERN, ID_PATTERN, NOT_BLANK])
def test_the_catalogues_own_patterns_are_said_in_words(pattern: str):
    schema = {"type": "string", "pattern": pattern}
    (problem,) = CompiledSchema({"type": "object", "properties": {"a": schema}}).problems({"a": " "})
    assert isinstance(problem.message, Text)
    for said in problem.message.by_language.values():
        assert not set("\\^[]{}*+$") & set(said.replace("^GSPC", ""))


@pytest.mark.parametrize("properties", [{}, {"a": {}}])
def test_an_argument_that_does_not_exist_is_named_and_worded(properties: dict[str, Any]):
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    (problem,) = CompiledSchema(schema).problems({"b": 1})
    assert problem.field == "b"
    assert isinstance(problem.message, Text)


def test_what_has_no_words_is_said_as_the_validator_says_it():
    schema = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}}
    (problem,) = CompiledSchema(schema).problems({"a": "x"})
    assert isinstance(problem.message, str)
    assert "x" in problem.message
