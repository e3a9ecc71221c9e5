"""The programs of emulated hosts: Oracle's, and those of the operating system that show its machine."""
