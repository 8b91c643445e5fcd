"""`nexus trace`: what each service did for a turn, from the spans that they left on the bus."""
