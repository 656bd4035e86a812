"""What a run of many tasks would take: a simulation, with everything that it assumes; the table of docs/scaling.md.

    python python/bench/model.py [--bytes 1.38e13] [--tasks 10000] [--processors 64,256,1024] …

Tasks are handed out one after the other to whichever processor is free. Each takes a share of the bytes at the rate of one
processor (measured) or of its share of the network (assumed), and what a task costs beside (measured); how long tasks
really take is spread around that (assumed, log-normal), and some fail at a random moment and are done again (assumed).
States are merged 32 at a time. Everything is drawn from a seed.
"""

import argparse
import heapq
import math
import random


def simulated(asked, processors: int):
    """Seconds until all is merged."""
    draw = random.Random(asked.seed)
    task_bytes = asked.bytes / asked.tasks
    rate = min(asked.rate, asked.network / asked.processors_each)
    free = [asked.start] * processors
    heapq.heapify(free)
    handed_out, waiting, ended = asked.start, asked.tasks, []
    while waiting:
        waiting -= 1
        handed_out += asked.dispatch
        begun = max(heapq.heappop(free), handed_out)
        seconds = (task_bytes / rate + asked.task) * math.exp(draw.gauss(0, asked.spread))
        if draw.random() < asked.failures:
            seconds *= draw.random()
            waiting += 1
        else:
            ended.append(begun + seconds)
        heapq.heappush(free, begun + seconds)
    states, last = asked.tasks, max(ended)
    while states > 1:
        groups = math.ceil(states / 32)
        last += math.ceil(groups / processors) * (32 * asked.keys * asked.merge + asked.task) + groups * asked.dispatch
        states = groups
    return last


def main():
    parser = argparse.ArgumentParser()
    number = {"type": float}
    parser.add_argument("--bytes", **number, default=1.38e13, help="of 10^12 rows of the challenge")
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=413)
    parser.add_argument("--processors", default="64,256,1024")
    parser.add_argument("--rate", **number, default=1.54e9, help="bytes a second of one processor; measured")
    parser.add_argument("--task", **number, default=0.01, help="seconds of a task beside its bytes; measured")
    parser.add_argument("--dispatch", **number, default=0.007, help="seconds of the driver for a task; measured")
    parser.add_argument("--merge", **number, default=1e-6, help="seconds for a key of a state; measured")
    parser.add_argument("--start", **number, default=60.0, help="seconds until processors are there; assumed")
    parser.add_argument("--network", **number, default=1.5e9, help="bytes a second of a machine; assumed (12.5 Gbit/s)")
    parser.add_argument("--processors-each", type=int, default=8, help="of a machine; assumed")
    parser.add_argument("--spread", **number, default=0.2, help="standard deviation of the logarithm of a task's time; assumed")
    parser.add_argument("--failures", **number, default=0.01, help="share of tries that fail; assumed")
    parser.add_argument("--hour", **number, default=0.04, help="dollars for a processor and hour; assumed")
    parser.add_argument("--request", **number, default=4e-7, help="dollars for a request; assumed")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    block_bytes = 8 << 20
    requests = asked.tasks * (1 + math.ceil(asked.bytes / asked.tasks / block_bytes)) * (1 + asked.failures / 2)
    state_bytes = 600 + 60 * asked.keys
    print(f"{asked.bytes:.3g} bytes in {asked.tasks} tasks: {requests:.3g} requests, ${requests * asked.request:.2f}; ", end="")
    print(f"a state has {state_bytes / 1e3:.0f} kB, the driver holds at most 32")
    print("| processors | seconds | dollars |\n|--:|--:|--:|")
    for processors in map(int, asked.processors.split(",")):
        seconds = simulated(asked, processors)
        dollars = processors * seconds / 3600 * asked.hour + requests * asked.request
        print(f"| {processors} | {seconds:.0f} | {dollars:.2f} |")


if __name__ == "__main__":
    main()
