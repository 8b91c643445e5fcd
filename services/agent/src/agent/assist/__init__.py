"""Help for human agents: suggested replies and better wording, by the company's own model."""
