"""The library that every Nexus service builds on: settings, bus, consuming, publishing, health, logs, traces."""
