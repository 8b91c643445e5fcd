"""Support for tests of the market-adapter; nothing here runs in a service."""
