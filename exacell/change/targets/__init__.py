"""Work with targets: for each kind of target one module reads it, sends statements to it, and judges the answers."""
