"""The program cellcli: options, scripts and the interactive session."""
