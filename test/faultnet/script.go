package faultnet

import (
	"math/rand/v2"
	"time"
)

// Script is what becomes of one connection. The zero value changes nothing.
type Script struct {
	// Greeting is what becomes of the connection before anything is passed on.
	Greeting Greeting
	// Requests and Answers are what becomes of the bytes to the service, and of those from it.
	Requests, Answers Way
}

// Greeting is how a connection is taken.
type Greeting int

// What can become of a connection at once.
const (
	Accept    Greeting = iota
	Refuse             // reset: what a listener that nobody reads from looks like
	BlackHole          // taken, and no byte ever moves
	Alert              // a TLS alert (handshake_failure, RFC 8446 section 6) instead of an answer
)

// Way is what becomes of the bytes of one direction. The zero value passes them on as they are.
type Way struct {
	// Latency is waited before each piece, and up to Jitter more.
	Latency, Jitter time.Duration
	// Rate is the most bytes in a second. 0: no limit.
	Rate int
	// Slice is the most bytes of one piece; 1 with a latency makes a slow byte. 0: pieces as they come.
	Slice int
	// Corrupt is the place of the byte that is flipped, from 1. 0: none.
	Corrupt int64
	// End is what happens after that many bytes, of which none follows.
	End   End
	After int64
	// Ended, if set, is called just before End happens, from the goroutine that does it.
	Ended func(at time.Time)
}

// End is how a direction ends before its time.
type End int

// The ends of a direction.
const (
	Never     End = iota
	Reset         // both connections are reset (RST), and what is in their buffers is lost
	Close         // both connections are closed (FIN) as if all had been said
	HalfClose     // this direction is closed (FIN), the other goes on
	Stall         // no byte more, and the connections stay open
)

// random is the source for one connection: it depends on the seed and on the number of the connection alone.
func random(seed uint64, n int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(n)))
}
