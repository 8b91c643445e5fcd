"""The built-in assistant that answers when no language model is configured: rules, and the same tools as any model."""
