"""Whether a number that a text says is a figure, as it is usually rounded."""

from agent.domain.claims.lexer import Number

NEAR_TOLERANCE = 0.04
"""What a number may be off that is said to be no more than near."""
BOUND_TOLERANCE = 0.1
"""The same of a number that a figure is said to be above or below, and is."""
_PART_FACTOR = 2.5
"""How many times as far off a part of the whole may be: "more than half" is 57% too."""


def is_near(number: Number, actual: float) -> bool:
    near = [value * number.scale for value, _ in number.readings]
    near = [value for value in near if not number.bound or (actual >= value) == (number.bound == ">")]
    off = (BOUND_TOLERANCE if number.bound else NEAR_TOLERANCE) * (_PART_FACTOR if number.part else 1) * actual
    if number.bound and number.percent:
        off = max(off, 1.0)  # less than 1%, within 5% of its high
    return any(abs(value - actual) <= off for value in near)


def is_zero(number: Number) -> bool:
    return any(value == 0 for value, _ in number.readings)


def is_rounded_from(number: Number, actual: float) -> bool:
    return any(
        abs(value * number.scale - abs(actual))
        <= 0.5 * 10.0 ** -_decimal_places(value, places, number) * number.scale * 1.000001
        for value, places in number.readings
    )


def is_stated_by(number: Number, actual: float) -> bool:
    """Whether it is the figure, rounded; or near a figure that is said to be above or below it, and is."""
    return is_near(number, abs(actual)) if number.bound or number.part else is_rounded_from(number, actual)


def _decimal_places(value: float, places: int, number: Number) -> int:
    """Its decimal places; of thousands of millions, as Spanish counts, the zeros at its end are rounding too."""
    if places or value < 1000 or number.scale < 1e6:
        return places
    figures = str(int(value))
    return len(figures.rstrip("0")) - len(figures)
