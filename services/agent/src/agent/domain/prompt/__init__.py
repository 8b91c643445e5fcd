"""The prompt: five layers, then the conversation, then the results of the tools."""
