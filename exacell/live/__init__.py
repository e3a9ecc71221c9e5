"""Screens that go on by themselves: what they show is pure, only the loop knows terminals, threads and clocks."""
