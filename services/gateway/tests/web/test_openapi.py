from pathlib import Path

from gateway.openapi import text

COMMITTED = Path(__file__).parents[4] / "docs/openapi/openapi.json"


def test_the_committed_document_is_the_served_one() -> None:
    assert COMMITTED.read_text() == text(), "run: python -m gateway.openapi > docs/openapi/openapi.json"
