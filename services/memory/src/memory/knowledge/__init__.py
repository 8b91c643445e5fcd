"""A company's knowledge: stored as passages, searched, and the questions that it does not answer."""
