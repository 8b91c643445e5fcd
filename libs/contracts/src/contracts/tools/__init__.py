"""What the tools that other services serve take: the executor shows and checks it, the service reads it."""
