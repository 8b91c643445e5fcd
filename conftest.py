"""Loads the fixtures that start the real servers for every test of the tree."""

pytest_plugins = ["runtime.testing"]
