"""The client's side of the chat protocol, and a chat in the terminal."""
