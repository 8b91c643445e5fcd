"""Conversations, company settings and what is remembered of people."""
