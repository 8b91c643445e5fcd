"""The arguments of tools that other services serve: shown and checked by the executor, read by the service."""
