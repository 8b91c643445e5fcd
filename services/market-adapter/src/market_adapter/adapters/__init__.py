"""One file for each outside system: sample files, sources of market data, MongoDB, NATS."""
