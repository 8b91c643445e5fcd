"""What tests of all services need: real servers, networks, clocks; nothing here runs in a service."""
