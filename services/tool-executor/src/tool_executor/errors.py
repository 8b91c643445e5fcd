"""The errors of this service, and where each is raised.

    CatalogueError (catalogue/registry.py)     a declaration that may not be served: the service does not start
    ToolFailed     (domain/declaration.py)     a handler could not do its work: EXECUTION_ERROR with a reason
    ToolRefused    (domain/declaration.py)     its arguments were wrong after all: VALIDATION_ERROR
    ServiceUnavailable (domain/declaration.py)  what it needs cannot be reached: UNAVAILABLE
    AddressRefused (domain/site_address.py)    fetch_page may not go there
    SizingError    (domain/position_size.py)          figures that make no trade
    StoreUnavailable (ports.py)                 Redis does not answer: calls go on degraded, or UNAVAILABLE
    SchemaBroken   (ports.py)                  a JSON Schema does not compile

None of them leaves the service: callers get results (contracts.events.tool.ToolResult), always.
"""

from tool_executor.catalogue.registry import CatalogueError
from tool_executor.domain.declaration import ServiceUnavailable, ToolFailed, ToolRefused
from tool_executor.domain.position_size import SizingError
from tool_executor.domain.site_address import AddressRefused
from tool_executor.ports import SchemaBroken, StoreUnavailable

__all__ = [
    "AddressRefused",
    "CatalogueError",
    "SchemaBroken",
    "ServiceUnavailable",
    "SizingError",
    "StoreUnavailable",
    "ToolFailed",
    "ToolRefused",
]
