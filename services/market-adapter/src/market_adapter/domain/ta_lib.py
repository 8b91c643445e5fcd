"""Loads TA-Lib when it is first used: it imports pandas, which takes a second that no start needs to wait for."""

import asyncio
from functools import cache
from importlib import import_module
from typing import Any


@cache
def ta_lib() -> Any:
    """The module: functions of float arrays, NaN where there are too few bars. https://ta-lib.org/functions/"""
    return import_module("talib")


async def load_ta_lib() -> None:
    """Imports it in a thread if that has not happened yet, so that the event loop goes on."""
    if ta_lib.cache_info().currsize == 0:
        await asyncio.to_thread(ta_lib)
