"""The nexus command and the local stack."""
