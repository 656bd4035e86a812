"""Functions of your own in Python as contenders: `fathom own 'python3 runners/python/worker.py'`.

Speaks the protocol of docs/protocol.md. Replace what is in BENCHES: by group and name, functions that
return a whole number, which is the check.
"""

import json
import platform
import resource
import sys
import time

MASK = (1 << 64) - 1


def xorshift():
    """10,000 steps of xorshift32 (Marsaglia 2003), as in the examples in other languages."""
    x = 1
    for _ in range(10_000):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
    return x


BENCHES = {("xorshift", "python"): xorshift}


def digest(number):
    """64-bit FNV-1a of the number's eight bytes, least significant first."""
    value = 0xCBF29CE484222325
    for byte in number.to_bytes(8, "little"):
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return f"{value:016x}"


def sample(run, iterations, warm):
    for _ in range(warm):
        run()
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    for _ in range(iterations):
        answer = run()
    wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    check = digest(answer)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"answer": "sample", "wall_ns": wall, "cpu_ns": cpu, "check": check, "peak_bytes": peak}


def reply(request, opened):
    ask = request["ask"]
    if ask == "hello":
        offered = [{"family": group, "name": name} for group, name in BENCHES]
        program = f"Python {platform.python_version()}"
        return {"answer": "hello", "protocol": 1, "program": program, "contenders": offered}
    if ask == "open":
        if request["contender"] is None:
            opened.append(lambda: 0)
        elif run := BENCHES.get((request["family"], request["contender"])):
            opened.append(run)
        else:
            return {"answer": "unsupported", "reason": "not here"}
        return {"answer": "opened"}
    if ask == "sample" and opened:
        return sample(opened[-1], request["iterations"], request["warm"])
    if ask == "metrics":
        return {"answer": "metrics", "metrics": []}
    if ask == "close":
        opened.clear()
        return {"answer": "closed"}
    return {"answer": "error", "message": "not understood, or nothing is open"}


def main():
    opened = []
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line), opened)), flush=True)


if __name__ == "__main__":
    main()
