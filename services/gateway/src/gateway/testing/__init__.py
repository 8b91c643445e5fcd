"""What tests of the gateway need; nothing here runs in a service."""
