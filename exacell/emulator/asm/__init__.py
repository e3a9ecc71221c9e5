"""The emulated ASM: clusters, disk groups and rebalances, its statements, and the instances on it."""
