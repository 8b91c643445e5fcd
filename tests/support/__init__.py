"""What the tests across services share: a chat client, and the running stack."""
