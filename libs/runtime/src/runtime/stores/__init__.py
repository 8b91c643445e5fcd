"""MongoDB, Redis and the object storage."""
