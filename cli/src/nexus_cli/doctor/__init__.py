"""What `nexus doctor` looks at in a stack that runs."""
