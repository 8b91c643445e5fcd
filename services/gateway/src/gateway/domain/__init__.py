"""The gateway's decisions, as plain Python: frames, recovery, feeds, limits, ids. No bus, no HTTP."""
