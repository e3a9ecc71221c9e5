"""exacell: a shell, command line and recipe runner for Oracle Exadata storage cells."""
