"""The local stack: embedded servers and the five services as supervised processes."""
