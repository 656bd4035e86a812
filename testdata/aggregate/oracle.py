"""Aggregates `key;value` lines on exact fractions: oracle.py FILE half-up|ceiling|half-even.

Wrote the golden results beside it; shares no code and no algorithm with the engine.
"""

import math
import sys
from fractions import Fraction

path, rounding = sys.argv[1:]
groups, scale = {}, 1
for line in open(path, "rb").read().split(b"\n"):
    line = line.rstrip(b"\r")
    if line:
        key, value = line.split(b";")
        scale = max(scale, len(value.partition(b".")[2]))
        groups.setdefault(key, []).append(Fraction(value.decode()))


def shown(number):
    units = number * 10**scale
    if rounding == "half-up":
        units = math.floor(units + Fraction(1, 2))
    elif rounding == "ceiling":
        units = math.ceil(units)
    else:
        units = round(units)
    digits = str(abs(units)).rjust(scale + 1, "0")
    return ("-" if units < 0 else "") + digits[:-scale] + "." + digits[-scale:]


def line(key, values):
    numbers = min(values), sum(values) / len(values), max(values)
    return key + b"=" + "/".join(map(shown, numbers)).encode()


sys.stdout.buffer.write(
    b"{" + b", ".join(line(*group) for group in sorted(groups.items())) + b"}\n"
)
