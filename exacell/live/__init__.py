"""Live screens, which update by themselves: drawing is pure, and only the loop knows terminals, threads and clocks."""
