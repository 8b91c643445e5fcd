"""The outside: the bus, the other services behind it, tokens. One file each."""
