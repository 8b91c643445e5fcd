"""Loads the fixtures that start the real servers for every test of the tree."""

pytest_plugins = ["runtime.testing"]

# Imported early on purpose: hypothesis' pytest plugin otherwise does it at the end of a session, where CPython 3.11's
# parser can fail with "AST constructor recursion depth mismatch".
import hypothesis  # noqa: E402, F401
