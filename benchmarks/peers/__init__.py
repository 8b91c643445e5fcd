"""What others take for a turn: the same chat made with FastAPI and OpenAI's SDK, and with LangGraph.

The peers keep a conversation in their memory and nothing else: no log, no journal, no limits, no second process. They
have an environment of their own (requirements.txt, compiled from requirements.in), for what they need is nothing that
Nexus needs.
"""
