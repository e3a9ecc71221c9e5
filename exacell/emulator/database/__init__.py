"""An instance's sessions: SQL statements from any program, and the rows of the views."""
