"""What travels between the services: events, subjects, streams, calls and errors. Depends on pydantic alone."""
