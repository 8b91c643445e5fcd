"""Who is calling: tokens, principals, and the sealing of secrets."""
