"""The data of every event, by area, and the registry that names their publishers and consumers."""
