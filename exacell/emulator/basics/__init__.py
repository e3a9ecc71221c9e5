"""What all rooms of the emulator stand on: its clock, names and messages, models and releases, and what a rack is made of."""
