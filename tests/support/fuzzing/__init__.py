"""Whatever reads what others wrote, given any bytes: which readers there are, and how one of them is judged."""
