"""One file for each thing outside: sample files, MongoDB, NATS."""
