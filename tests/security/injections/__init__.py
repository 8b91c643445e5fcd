"""Instructions in texts of others, and a model that obeys all of them."""
