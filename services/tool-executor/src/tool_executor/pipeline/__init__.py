"""The way of a call: an ordered list of steps, each of which may end it or look at what the rest of them gave."""
