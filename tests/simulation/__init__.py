"""The services' own code on a seeded scheduler: virtual time, a simulated bus, faults, and what must hold all the same."""
