"""An emulated Exadata rack, reached over real SSH."""
