import pytest

from gateway.domain.origins import is_allowed_origin


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://shop.example", True),
        ("https://SHOP.example", True),
        ("https://shop.example:443", True),
        ("https://shop.example:8443", False),
        ("http://shop.example", False),
        ("https://evil.shop.example", False),
        ("https://shop.example.evil", False),
        ("https://user@shop.example", False),
        ("null", False),
        ("", False),
        ("https://[::1", False),
        ("https://shop.example:99999999", False),
    ],
)
def test_only_exactly_the_companys_origins_are_allowed(origin: str, allowed: bool) -> None:
    assert is_allowed_origin(origin, ["https://shop.example"]) is allowed
