"""The statements of CellCLI on an emulated cell: one module for each kind of object, and the rows of LIST."""
