"""Random but seeded input at every door of a running stack (`make hostile`)."""
