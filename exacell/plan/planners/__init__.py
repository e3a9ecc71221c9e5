"""Make plans from facts, one module per noun. Pure."""
