package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"drawbridge/test/process"
)

// neighbourBytes is the memory that a neighbour goes over, more than caches hold: who reads documents does so, too.
const neighbourBytes = 32 << 20

// neighbour starts a program that takes one processor when nobody else wants it: it has the least priority, and does nothing but count. What it costs calls is
// what anything costs them that another program does on the same machine.
func neighbour(ctx context.Context) (*process.Child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process.Start(ctx, "env", "GOMAXPROCS=1", "nice", "-n", "19", program, "-neighbour")
}

// beNeighbour is its process, until ctx ends.
func beNeighbour(ctx context.Context, out io.Writer) error {
	counters := make([]byte, neighbourBytes)
	at := uint32(1)
	for ctx.Err() == nil {
		for range 1 << 16 {
			at = at*1664525 + 1013904223 // all of them, in no order that a processor could foresee
			counters[at%neighbourBytes]++
		}
	}
	_, err := fmt.Fprintln(out, counters[0])
	return err
}
