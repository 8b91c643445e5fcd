"""What memory does: each use case over the ports, with no broker and no database in sight."""
