"""One module per command. Heavy imports happen inside the commands, so that `nexus --help` is quick."""
