"""What tests of the market-adapter need; nothing here runs in a service."""
