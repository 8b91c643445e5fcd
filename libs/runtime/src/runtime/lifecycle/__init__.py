"""The life of a service: its process, start, health and shutdown."""
