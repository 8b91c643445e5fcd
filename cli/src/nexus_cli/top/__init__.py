"""What `nexus top` shows."""
