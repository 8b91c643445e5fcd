"""The pipeline of a tool call: an ordered list of steps. Each step may end the call, or look at the result of the
following steps."""
