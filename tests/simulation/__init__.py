"""The services' own code in virtual time, on a simulated bus, with faults by a seed; and what must still hold."""
