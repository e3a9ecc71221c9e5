"""Student's t and the normal distribution, also for probabilities that are too small for a float. Pure.

Sources: W. H. Press et al., Numerical Recipes, 6.4 (the incomplete beta function as a continued fraction); Abramowitz and
Stegun 26.5.27 and 26.2.12. Checked against R.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erfc, exp, lgamma, log, log1p, pi, sqrt

LN10 = log(10)
_LARGE = 100.0
_TINY = 1e-300


def log_two_sided_t(t: float, df: float) -> float:
    """Return the natural logarithm of P(|T| > |t|) for ``df`` degrees of freedom."""
    if t == 0:
        return 0.0
    square = t * t
    return _log_beta_tail(df / 2, 0.5, df / (df + square), square / (df + square))


def log_two_sided_normal(z: float) -> float:
    """Return the natural logarithm of P(|Z| > |z|)."""
    z = abs(z)
    if z < 30:
        return log(erfc(z / sqrt(2)))
    inverse = 1 / (z * z)
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse))
    return log(2 * series / (z * sqrt(2 * pi))) - z * z / 2


@lru_cache(maxsize=256)
def t_quantile(level: float, df: float) -> float:
    """Return t with P(|T| > t) = 1 - ``level``: 1.96 for 0.95 and many degrees of freedom."""
    wanted = log1p(-level)
    high = 1.0
    while log_two_sided_t(high, df) > wanted:
        high *= 2
    return _root(lambda t: log_two_sided_t(t, df) - wanted, 0.0, high)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a falling function, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
        if high - low <= 1e-15 * high:
            break
    return (low + high) / 2


def _log_beta_tail(a: float, b: float, x: float, rest: float) -> float:
    """Return log I_x(a, b); ``rest`` is 1 - x, a separate argument because it may be tiny."""
    front = (
        a * log1p(-rest) + b * log(rest) - _log_beta(a, b)
        if rest < 0.5
        else a * log(x) + b * log(rest) - _log_beta(a, b)
    )
    if x < (a + 1) / (a + b + 2):
        return front - log(a) + log(_fraction(a, b, x))
    return log1p(-exp(front - log(b) + log(_fraction(b, a, rest))))


def _log_beta(a: float, b: float) -> float:
    """Return log B(a, b); exact to the last digits for a large ``a`` and b = 1/2, where logarithms of gamma would cancel."""
    if b == 0.5 and a > _LARGE:
        return 0.5 * log(pi) - (0.5 * log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5))
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    found = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + step * d) or _TINY)
            c = (1 + step / c) or _TINY
            found *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return found
