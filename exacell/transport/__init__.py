"""Send commands to cells, database nodes and other hosts."""
