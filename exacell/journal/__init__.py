"""Keep the journal: the rows before and after every change, their hash chain, and questions about earlier runs."""
