"""An outside worker: crc32 of Python's zlib as a contender of family checksum.

Speaks the protocol of docs/protocol.md; needs nothing but Python. `fathom bench checksum
--worker 'python3 testdata/worker.py'` takes it in.
"""

import json
import platform
import sys
import time
import zlib

MASK = (1 << 64) - 1


def digest(number):
    """64-bit FNV-1a of the number's eight bytes, least significant first."""
    value = 0xCBF29CE484222325
    for byte in number.to_bytes(8, "little"):
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return f"{value:016x}"


def seeded_bytes(seed, size):
    """The buffer of family checksum: SplitMix64, brought into the range from 32 to 159."""
    out, state = bytearray(), seed
    while len(out) < size:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out += (z ^ (z >> 31)).to_bytes(8, "little")
    return bytes(32 + (byte & 127) for byte in out[:size])


def number(text):
    shift = {"K": 10, "M": 20, "G": 30, "T": 40}.get(text[-1].upper(), 0)
    return int(text[:-1] if shift else text) << shift


def answer(kind, **fields):
    print(json.dumps({"answer": kind, **fields}), flush=True)


def main():
    data = b""
    for line in sys.stdin:
        request = json.loads(line)
        ask = request["ask"]
        if ask == "hello":
            answer(
                "hello",
                protocol=1,
                program=f"zlib of Python {platform.python_version()}",
                contenders=[
                    {
                        "family": "checksum",
                        "name": "python-zlib",
                        "version": zlib.ZLIB_RUNTIME_VERSION,
                        "summary": "crc32 of Python's zlib module.",
                    }
                ],
            )
        elif ask == "open":
            workload = request["workload"]
            if workload["operation"] != "crc32":
                answer("unsupported", reason=f"has no {workload['operation']}")
                continue
            parameters = workload["parameters"]
            if parameters["size"] == "mix":
                answer("unsupported", reason="one buffer only, no mix")
                continue
            data = seeded_bytes(number(parameters["seed"]), number(parameters["size"]))
            answer("opened", work={"bytes": len(data), "items": 1})
        elif ask == "sample":
            for _ in range(request["warm"]):
                zlib.crc32(data)
            wall, cpu = time.monotonic_ns(), time.thread_time_ns()
            for _ in range(max(request["iterations"], 1)):
                crc = zlib.crc32(data)
            cpu, wall = time.thread_time_ns() - cpu, time.monotonic_ns() - wall
            answer("sample", wall_ns=wall, cpu_ns=cpu, check=digest(crc))
        elif ask == "metrics":
            answer("metrics", metrics=[])
        elif ask == "close":
            answer("closed")
        else:
            answer("error", message=f"unknown request {ask!r}")


main()
