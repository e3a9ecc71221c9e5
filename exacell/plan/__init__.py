"""Describe changes as values: steps, risk, inverse, and the pure logic over them."""
