"""What faults do to an emulated rack, and how its disks fail, come back and are replaced."""
