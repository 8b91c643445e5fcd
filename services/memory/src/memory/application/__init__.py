"""Memory's use cases, over the ports: no broker and no database here."""
