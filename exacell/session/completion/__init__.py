"""Complete words from what is known of racks and statements without asking a cell; the knowledge is kept on disk."""
