"""The emulated PL/SQL: blocks parsed, checked and run."""
