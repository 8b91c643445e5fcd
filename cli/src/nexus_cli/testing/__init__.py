"""What tests of the terminal need; nothing here runs in a service."""
