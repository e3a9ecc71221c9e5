"""The journal: what is written before and after every change, its hash chain, and what it tells of earlier runs."""
