"""What a header Retry-After asks for, whatever stands in it."""

import pytest

from runtime.http.retry_after import seconds_in


@pytest.mark.parametrize(("header", "seconds"), [
    ("120", 120), (" 3 ", 3), ("0.5", 0.5), ("-5", 0), ("99999999", 3_600), ("inf", 3_600), ("nan", None),
    ("soon", None), ("", None), (None, None), ("Wed, 21 Oct 9999 07:28:00 GMT", 3_600),
    ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Wed, 21 Oct 2015 07:28:00", 0), ("Wed, 99 Oct 2015", None),
])  # fmt: skip
def test_a_pause_is_a_number_or_a_date_and_has_an_end(header: str | None, seconds: float | None) -> None:
    assert seconds_in(header) == seconds
