"""Adapters to the outside: the bus, other services, tokens. One file each."""
