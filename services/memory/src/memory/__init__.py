"""Memory: stores conversations, company settings, and what is remembered about users."""
