"""Which form of a document a client gets."""

import pytest

from gateway.domain.accepted import prefers


@pytest.mark.parametrize(
    ("accept", "text"),
    [
        ("", False),
        ("*/*", False),
        ("text/html", False),
        ("text/plain", True),
        ("TEXT/PLAIN; charset=utf-8", True),
        ("text/*", True),
        ("text/plain, application/json", True),
        ("application/json, text/plain", False),
        ("text/plain;q=0.1, application/json", False),
        ("application/json;q=0.1, text/plain;q=0.9", True),
        ("text/plain;q=0, */*", False),
        ("text/plain;q=0.5, */*;q=0.1", True),
        ("text/plain;q=0", False),
        ("text/*;q=0.4, application/json;q=0.4", True),
    ],
)
def test_the_form_is_the_one_that_is_wanted_most(accept: str, text: bool) -> None:
    assert prefers(accept, "text/plain", "application/json") is text
