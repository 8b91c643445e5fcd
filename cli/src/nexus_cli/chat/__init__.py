"""The chat protocol from the client's side, and its face in a terminal."""
