"""What tests and benchmarks of the agent need; nothing here runs in a service."""
