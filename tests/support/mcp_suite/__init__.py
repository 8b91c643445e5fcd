"""The public MCP conformance suite, and what its scenarios need beside the product."""
