"""The emulated ASM: instances, disk groups, files and rebalances, its statements, and asmcmd."""
