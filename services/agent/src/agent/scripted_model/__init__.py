"""A model server that says what a script says: for development, tests and benchmarks.

Speaks the OpenAI chat API over real HTTP, streamed, and fails in every way that real ones do: see script.ScriptedReply.
``python -m agent.scripted_model --port 0`` prints its base URL; a running one is told what to say over HTTP:

    PUT    /script      [{"match": "price", "replies": [{"toolCalls": […]}, {"text": "…"}]}]
    GET    /requests    what was asked so far
    DELETE /requests    forget it
"""
