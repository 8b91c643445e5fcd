"""TA-Lib, loaded when first used: its package imports pandas, a second that no start-up need wait for."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def ta_lib() -> Any:
    """The module: functions of float arrays, NaN where there are too few bars. https://ta-lib.org/functions/"""
    return import_module("talib")
