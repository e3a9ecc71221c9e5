"""What weekly care of cells judges: health, alerts, whether a cell may go offline. Pure: facts in, sentences out."""
