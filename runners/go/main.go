// Functions of your own in Go: go build -o worker runners/go/main.go && fathom own ./worker
// Speaks the protocol of docs/protocol.md. Replace what is in benches; what they return is the check.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"syscall"
	"time"
)

var benches = []struct {
	Family string `json:"family"`
	Name   string `json:"name"`
	run    func() uint64
}{{"xorshift", "go", xorshift}}

// 10,000 steps of xorshift32 (Marsaglia 2003), as in the examples in other languages.
func xorshift() uint64 {
	x := uint32(1)
	for range 10000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return uint64(x)
}

type request struct {
	Ask, Family      string
	Contender        *string
	Iterations, Warm uint64
}

type object map[string]any
// Of the process: a goroutine stays on no thread.
func used() (usage syscall.Rusage, cpu int64) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage, usage.Utime.Nano() + usage.Stime.Nano()
}

func sample(run func() uint64, iterations, warm uint64) object {
	for range warm {
		run()
	}
	_, cpu := used()
	answer, begin := uint64(0), time.Now()
	for range iterations {
		answer = run()
	}
	wall := time.Since(begin).Nanoseconds()
	usage, after := used()
	digest := fnv.New64a()
	binary.Write(digest, binary.LittleEndian, answer)
	return object{"answer": "sample", "wall_ns": wall, "cpu_ns": after - cpu,
		"check": fmt.Sprintf("%016x", digest.Sum64()), "peak_bytes": usage.Maxrss * 1024}
}

func main() {
	var open func() uint64
	output := json.NewEncoder(os.Stdout)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		asked := request{}
		reply := object{"answer": "error", "message": "not understood, or nothing is open"}
		json.Unmarshal(input.Bytes(), &asked)
		switch {
		case asked.Ask == "hello":
			reply = object{"answer": "hello", "protocol": 1, "program": runtime.Version(), "contenders": benches}
		case asked.Ask == "open" && asked.Contender == nil:
			open, reply = func() uint64 { return 0 }, object{"answer": "opened"}
		case asked.Ask == "open":
			if open = find(asked); open != nil {
				reply = object{"answer": "opened"}
			}
		case asked.Ask == "sample" && open != nil:
			reply = sample(open, asked.Iterations, asked.Warm)
		case asked.Ask == "metrics":
			reply = object{"answer": "metrics", "metrics": []int{}}
		case asked.Ask == "close":
			open, reply = nil, object{"answer": "closed"}
		}
		output.Encode(reply)
	}
}

func find(asked request) func() uint64 {
	for _, b := range benches {
		if b.Family == asked.Family && b.Name == *asked.Contender {
			return b.run
		}
	}
	return nil
}
