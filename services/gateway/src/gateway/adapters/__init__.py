"""Adapters to the outside: the bus, other services, tokens. A file for each."""
