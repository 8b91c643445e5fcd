"""Regular expressions that are compiled when they are first used."""

import re
from functools import cached_property
from typing import Any, cast


class LazyPattern:
    """Has the attributes of a compiled pattern; each is looked up once."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compiled, name)
        self.__dict__[name] = value
        return value


def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns a pattern that is compiled at its first use, for modules with many: compiling takes a third of what
    importing the agent does, and most messages use few of them.

    It is not an instance of `re.Pattern`: call its methods instead of the functions of `re`.
    """
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
