"""Doors: each serves clients of another protocol, on the same conversations (docs/architecture/doors.md)."""
