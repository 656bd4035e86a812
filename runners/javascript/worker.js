// Functions of your own in JavaScript as contenders: fathom own 'node runners/javascript/worker.js'
//
// Speaks the protocol of docs/protocol.md. Replace what is in BENCHES: functions that return a whole
// number below 2^53, which is the check. When a function is opened it is run until it stops getting
// faster, and the metrics say how long that took.
"use strict";
const readline = require("node:readline");

// 10,000 steps of xorshift32 (Marsaglia 2003), as in the examples in other languages.
function xorshift() {
  let x = 1;
  for (let i = 0; i < 10000; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x >>> 0;
}

const BENCHES = [{ family: "xorshift", name: "javascript", run: xorshift }];

// 64-bit FNV-1a of the number's eight bytes, least significant first.
function digest(number) {
  let value = 0xcbf29ce484222325n;
  for (let i = 0n, n = BigInt(number); i < 64n; i += 8n) {
    value = BigInt.asUintN(64, (value ^ ((n >> i) & 255n)) * 0x100000001b3n);
  }
  return value.toString(16).padStart(16, "0");
}

function timed(run, iterations) {
  let answer;
  const [cpu, wall] = [process.cpuUsage(), process.hrtime.bigint()];
  for (let i = 0; i < iterations; i++) answer = run();
  const wall_ns = Number(process.hrtime.bigint() - wall);
  const used = process.cpuUsage(cpu);
  return { answer, wall_ns, cpu_ns: (used.user + used.system) * 1000 };
}

// Runs batches until ten in a row are none of them 2 % faster than the fastest before, for 3 s at most.
function warmedUp(run) {
  let [best, quiet, total_ns, runs] = [Infinity, 0, 0, 0];
  while (quiet < 10 && total_ns < 3e9) {
    const batch = timed(run, 50).wall_ns;
    quiet = batch < best * 0.98 ? 0 : quiet + 1;
    best = Math.min(best, batch);
    total_ns += batch;
    runs += 50;
  }
  return [
    { name: "warm-up ms", value: total_ns / 1e6 },
    { name: "warm-up runs", value: runs },
  ];
}

let [opened, metrics] = [null, []];

function reply(request) {
  switch (request.ask) {
    case "hello": {
      const contenders = BENCHES.map(({ family, name }) => ({ family, name }));
      return { answer: "hello", protocol: 1, program: `Node.js ${process.version}`, contenders };
    }
    case "open": {
      const is = (b) => b.family === request.family && b.name === request.contender;
      opened = request.contender === null ? () => 0 : BENCHES.find(is)?.run;
      if (!opened) return { answer: "unsupported", reason: "not here" };
      metrics = request.contender === null ? [] : warmedUp(opened);
      return { answer: "opened" };
    }
    case "sample": {
      if (!opened) break;
      for (let i = 0; i < request.warm; i++) opened();
      const { answer, wall_ns, cpu_ns } = timed(opened, request.iterations);
      const check = digest(answer);
      return { answer: "sample", wall_ns, cpu_ns, check, peak_bytes: process.resourceUsage().maxRSS * 1024 };
    }
    case "metrics":
      return { answer: "metrics", metrics };
    case "close":
      opened = null;
      return { answer: "closed" };
  }
  return { answer: "error", message: "not understood, or nothing is open" };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify(reply(JSON.parse(line))) + "\n");
});
