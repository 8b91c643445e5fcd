import pytest

from gateway.domain.etags import etag, matches


@pytest.mark.parametrize("header", ['"7"', "*", ' "7" ', '"6", "7"', etag(7)])
def test_a_header_that_names_the_version_matches(header: str) -> None:
    assert matches(header, 7)


@pytest.mark.parametrize("header", ['"6"', "7", "", 'W/"7"', '"77"', '"7', '"*"', ","])
def test_any_other_header_does_not_match(header: str) -> None:
    assert not matches(header, 7)
