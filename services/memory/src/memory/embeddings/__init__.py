"""Texts by what they mean, beside the words that they are made of: optional, and never waited for long."""
