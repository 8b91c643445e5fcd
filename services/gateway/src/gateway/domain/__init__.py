"""What the door decides, as plain Python: frames, recovery, feeds, limits, ids. No bus, no HTTP."""
