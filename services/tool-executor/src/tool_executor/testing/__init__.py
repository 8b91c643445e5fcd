"""What tests of the tool-executor need; nothing here runs in a service."""
