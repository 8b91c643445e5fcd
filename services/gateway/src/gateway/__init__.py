"""Websockets, REST and web pages: the door of Nexus."""
