"""A session: its state, what is open to its rack, one request at a time, and how that is carried out."""
