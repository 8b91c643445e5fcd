"""The images are built, the compose file is brought up from them, and both are looked at: `make verify-images`."""
