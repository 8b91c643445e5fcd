"""A company's own words: kept as passages, searched, and the questions that they do not answer."""
