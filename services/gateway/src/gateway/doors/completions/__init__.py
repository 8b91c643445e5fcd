"""OpenAI's chat completions and models: /v1. The caller sends the whole conversation; none of it is stored."""
