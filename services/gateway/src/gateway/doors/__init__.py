"""Other people's clients, each in its own protocol, over the same conversations (docs/architecture/doors.md)."""
