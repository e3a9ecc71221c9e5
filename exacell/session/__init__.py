"""Hold a session: its state, the connections to its rack, and how one request at a time is carried out."""
