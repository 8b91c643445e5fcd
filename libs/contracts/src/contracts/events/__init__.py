"""Every event's data, by part of the product, and the registry that names owners and consumers."""
