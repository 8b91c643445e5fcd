"""Imports TA-Lib on first use: it imports pandas, which takes a second, and no start needs to wait for that."""

import asyncio
from functools import cache
from importlib import import_module
from typing import Any


@cache
def ta_lib() -> Any:
    """TA-Lib's module: functions of float arrays, with NaN where there are too few bars.
    https://ta-lib.org/functions/"""
    return import_module("talib")


async def load_ta_lib() -> None:
    """Imports TA-Lib in a thread if that has not happened yet, so that the event loop is not blocked."""
    if ta_lib.cache_info().currsize == 0:
        await asyncio.to_thread(ta_lib)
