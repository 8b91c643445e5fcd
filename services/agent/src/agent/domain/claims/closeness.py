"""Compares a number in a text with the actual value, as such numbers are usually rounded."""

from agent.domain.claims.lexer import Number

NEAR_TOLERANCE = 0.04
"""Relative error of a number that is stated as approximate."""
BOUND_TOLERANCE = 0.1
"""The same if the figure is said to be above or below the number, and is."""
_PART_FACTOR = 2.5
"""A share of the whole may be this many times as far off: "more than half" may be 57%."""


def is_near(number: Number, actual: float) -> bool:
    candidates = [value * number.scale for value, _ in number.readings]
    candidates = [value for value in candidates if not number.bound or (actual >= value) == (number.bound == ">")]
    tolerance = (
        (BOUND_TOLERANCE if number.bound else NEAR_TOLERANCE) * (_PART_FACTOR if number.is_share else 1) * actual
    )
    if number.bound and number.percent:
        tolerance = max(tolerance, 1.0)  # less than 1%, within 5% of its high
    return any(abs(value - actual) <= tolerance for value in candidates)


def is_zero(number: Number) -> bool:
    return any(value == 0 for value, _ in number.readings)


def is_rounded_from(number: Number, actual: float) -> bool:
    return any(
        abs(value * number.scale - abs(actual))
        <= 0.5 * 10.0 ** -_decimal_places(value, places, number) * number.scale * 1.000001
        for value, places in number.readings
    )


def is_stated_by(number: Number, actual: float) -> bool:
    """Whether the number is the actual value, rounded; or near it, if stated as a share or a bound that holds."""
    return is_near(number, abs(actual)) if number.bound or number.is_share else is_rounded_from(number, actual)


def _decimal_places(value: float, places: int, number: Number) -> int:
    """The number's decimal places; negative for final zeros of thousands of millions, which are rounding too."""
    if places or value < 1000 or number.scale < 1e6:
        return places
    figures = str(int(value))
    return len(figures.rstrip("0")) - len(figures)
