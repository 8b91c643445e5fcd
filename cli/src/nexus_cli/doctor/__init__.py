"""The checks of `nexus doctor` on a running stack."""
