"""Every method of the bus: each `Rpc` that a module named `*_rpc` declares."""

from importlib import import_module
from pkgutil import iter_modules
from typing import cast

import contracts
from contracts.rpc import Method, Rpc


def _declared() -> dict[str, Method]:
    methods: dict[str, Method] = {}
    for name in (module.name for module in iter_modules(contracts.__path__) if module.name.endswith("_rpc")):
        for value in vars(import_module(f"contracts.{name}")).values():
            if isinstance(value, Rpc):
                method = cast("Method", value)
                methods[method.subject] = method
    return methods


METHODS = tuple(_declared().values())
