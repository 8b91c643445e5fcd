"""Steps that the agent takes by itself when a user asks for them in plain words: deciding an action, showing or
changing what is remembered.

A model cannot ask for these steps: they are recorded as the rules' own, and a model's calls go only to the executor.
"""
