"""What tests of the memory need; nothing here runs in a service."""
