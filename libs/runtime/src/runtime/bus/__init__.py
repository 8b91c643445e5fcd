"""The bus: the connection, what must exist on the server, publishing, reading, and requests and their replies."""
