"""The gateway: websockets, REST and web pages, the way into Nexus for every client."""
