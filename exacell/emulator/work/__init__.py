"""What user sessions of emulated databases do: tables, transactions, the log writer, and 10046 trace files."""
