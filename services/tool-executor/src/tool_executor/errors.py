"""The errors of this service, and where each is raised.

    CatalogueError          catalogue/registry.py     a declaration is wrong: the service does not start
    ToolFailedError         domain/declaration.py     a handler could not do its work: EXECUTION_ERROR with a reason
        UnknownConceptError domain/glossary           there is no such concept
    ToolRefusedError        domain/declaration.py     the arguments were wrong after all: VALIDATION_ERROR
        SizingError         domain/position_size.py   figures that make no trade
    ToolUnavailableError    domain/declaration.py     something that the tool needs does not answer: UNAVAILABLE
    AddressRefusedError     domain/site_address.py    fetch_page may not go there
    RedisUnavailableError   ports.py                  Redis does not answer: calls go on with less, or UNAVAILABLE
    SchemaBrokenError       ports.py                  a JSON Schema does not compile

None of them leaves the service: callers always get results (contracts.events.tool.ToolResult).
"""
