"""Doors: clients of other protocols, each in its own protocol, over the same conversations
(docs/architecture/doors.md)."""
