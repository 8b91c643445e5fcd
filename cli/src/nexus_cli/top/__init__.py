"""The figures of `nexus top`."""
