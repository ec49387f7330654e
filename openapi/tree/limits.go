package tree

import (
	"fmt"

	"drawbridge/openapi/pacing"
)

// Limits bound the cost of a document, all its files together (requirement S3). A zero field takes its default.
type Limits struct {
	Bytes      int64 // of all files, decoded; 64 MiB
	Depth      int   // of nested arrays and objects; 200
	Nodes      int   // values of any kind; 1,800,000 (a third for a YAML file, whose parser costs that much more)
	Aliases    int   // values that YAML aliases and merge keys may add; 500,000
	Refs       int   // members named "$ref"; 200,000
	RefChain   int   // references that lead only to a reference; 64
	Files      int   // 5,000
	FileDepth  int   // files on the path to a file; 32
	Operations int   // 10,000
	// Memory limits the bytes of texts and values of all files, at 100 per value; 0 for the sum of the other limits.
	Memory int64

	Pace *pacing.Pace // of the work, with its budget of steps; if nil, it does not yield, and only the other limits apply
}

// budget is the remainder of Limits while a document is loaded.
type budget struct {
	Limits
	scarce                                  bool // Memory limits Nodes
	bytes                                   int64
	nodes, aliases, refs, files, operations int
}

func newBudget(l Limits) *budget {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	def(&l.Depth, 200)
	def(&l.Nodes, 1_800_000)
	def(&l.Aliases, 500_000)
	def(&l.Refs, 200_000)
	def(&l.RefChain, 64)
	def(&l.Files, 5_000)
	def(&l.FileDepth, 32)
	def(&l.Operations, 10_000)
	return &budget{Limits: l}
}

// nodeBytes is the approximate memory of a value and its entry in its container: GitHub's document has 98 bytes a
// value, others 70 to 120.
const nodeBytes = 100

const splitAdvice = "split the document, or raise the limit if you trust its author"

func tooMany(p Position, limit int, what string) *LimitError {
	return &LimitError{Position: p, Message: fmt.Sprintf("more than %d %s; %s", limit, what, splitAdvice)}
}

func (b *budget) addBytes(p Position, n int) error {
	b.Pace.Allow(n)
	if b.bytes += int64(n); b.bytes > b.Bytes {
		return &LimitError{Position: p, Message: fmt.Sprintf("more than %d bytes; %s", b.Bytes, splitAdvice)}
	}
	if b.Memory <= 0 {
		return nil
	}
	if room := b.Memory - b.bytes - int64(b.nodes)*nodeBytes; room < int64(b.Nodes-b.nodes)*nodeBytes {
		b.Nodes, b.scarce = b.nodes+int(max(room, 0)/nodeBytes), true
	}
	return nil
}

// tooManyValues returns the error if value n of a document exceeds the limit.
func (b *budget) tooManyValues(p Position) error {
	if !b.scarce {
		return tooMany(p, b.Nodes, "values")
	}
	return &LimitError{Position: p, Message: fmt.Sprintf("more than %d values, which with the texts take %d MiB, all that there is for a document; split it, or give the gateway more memory",
		b.Nodes, b.Memory>>20)}
}
