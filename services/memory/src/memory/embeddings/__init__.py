"""Optional embeddings: search by meaning beside search by words. Searches never wait long for them."""
