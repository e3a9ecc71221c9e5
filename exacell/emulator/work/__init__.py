"""The work of user sessions on emulated databases: tables, transactions, the log writer, and 10046 traces."""
