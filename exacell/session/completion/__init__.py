"""Complete words with the known names of racks and statements, which are kept on disk; no cell is asked."""
