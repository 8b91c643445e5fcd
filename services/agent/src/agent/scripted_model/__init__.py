"""A model server that replies from a script, for development, tests and benchmarks.

It serves the OpenAI and Anthropic chat APIs over HTTP, streamed, and can fail as real servers do: see
script.ScriptedReply. ``python -m agent.scripted_model --port 0`` prints its base URL; while it runs, the script is
changed and the requests are read over HTTP:

    PUT    /script      [{"match": "price", "replies": [{"toolCalls": […]}, {"text": "…"}]}]
    GET    /requests    the requests so far
    DELETE /requests    clear the list of requests
"""
