"""One file for each outside thing: MongoDB's collections, Redis, the stream's consumer."""
