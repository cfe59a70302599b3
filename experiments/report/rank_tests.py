"""Friedman's test, Nemenyi's critical difference and the jackknife."""

import math

# Studentised range at 5 % with infinitely many degrees of freedom, divided by sqrt(2), for 2, 3, ... methods
# (Demšar 2006, table 5).
NEMENYI = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


# Student's t, two-sided 5 %, for 1, 2, ... degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def t_quantile(degrees):
    """What an estimate in standard errors must exceed to be significant at 5 %; to 0.01 beyond the table."""
    return STUDENT[degrees - 1] if degrees <= len(STUDENT) else 1.96 + 2.5 / degrees


def chi_squared_tail(x, degrees):
    """Probability of a larger value: 1 - P(degrees / 2, x / 2), by the series of the lower incomplete gamma function."""
    a, half = degrees / 2, x / 2
    if half <= 0:
        return 1.0
    term = total = 1 / a
    n = a
    while term > total * 1e-16:
        n += 1
        term *= half / n
        total += term
    return max(0.0, 1.0 - total * math.exp(a * math.log(half) - half - math.lgamma(a)))


def friedman(rows):
    """Chi-squared, corrected for ties, and its p; `rows` has the ranks of all methods in each experiment."""
    n, k = len(rows), len(rows[0])
    sums = [sum(row[j] for row in rows) for j in range(k)]
    spread = sum((total - n * (k + 1) / 2) ** 2 for total in sums)
    variance = sum((rank - (k + 1) / 2) ** 2 for row in rows for rank in row)
    if variance == 0:
        return 0.0, 1.0
    chi_squared = (k - 1) * spread / variance
    return chi_squared, chi_squared_tail(chi_squared, k - 1)


def critical_difference(methods, experiments):
    return NEMENYI[methods - 2] * math.sqrt(methods * (methods + 1) / (6 * experiments))


def jackknife(statistic, items):
    """statistic(items) and its standard error, from leaving out each item once."""
    n = len(items)
    estimate = statistic(items)
    if n < 2:
        return estimate, math.inf
    without = [statistic(items[:i] + items[i + 1:]) for i in range(n)]
    mean = sum(without) / n
    return estimate, math.sqrt((n - 1) / n * sum((value - mean) ** 2 for value in without))
