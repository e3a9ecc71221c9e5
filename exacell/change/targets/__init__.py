"""Work with targets: one module for each kind of what a step changes says how it is asked, sent to and judged."""
