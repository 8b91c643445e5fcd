"""OpenAI's chat completions and models: /v1. The caller brings the whole conversation; nothing of it is stored."""
