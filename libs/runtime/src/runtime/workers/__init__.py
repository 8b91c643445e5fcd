"""Consuming: workers on durable consumers, the outcomes of a message, retries and dead letters."""
