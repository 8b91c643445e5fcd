"""The gateway: websockets, HTTP APIs and web pages, the way into Nexus for every client."""
