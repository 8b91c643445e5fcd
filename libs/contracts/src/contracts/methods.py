"""Every method that can be called on the bus."""

from typing import Any

from contracts import market_rpc, rpc

METHODS: tuple[rpc.Rpc[Any, Any], ...] = (*rpc.METHODS, *market_rpc.METHODS)
