"""The weekly care of cells: health, alerts, whether a cell may go offline. Pure: facts in, sentences out."""
