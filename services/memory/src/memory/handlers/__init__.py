"""The subscription table, a file for each feature: the methods that memory serves and the facts that it consumes."""
