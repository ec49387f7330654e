package tokenizer

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// maxCached is the length of the longest piece that is kept.
	maxCached = 48
	// cacheSlots is a power of two.
	cacheSlots = 1 << 13
)

// cache keeps the tokens of short pieces. Texts of one kind consist of few: 95 % of the pieces of GitHub's tools were
// seen before. A piece has one slot and replaces what was in it, so that the cache needs no lock and stays below 1 MiB.
type cache [cacheSlots]atomic.Pointer[entry]

// entry is a piece with its number of tokens. It is immutable.
type entry struct {
	piece  string
	tokens int
}

// hashSeed differs in each process: nobody can choose pieces that share a slot.
var hashSeed = maphash.MakeSeed()

func (c *cache) slot(piece []byte) *atomic.Pointer[entry] {
	return &c[maphash.Bytes(hashSeed, piece)%cacheSlots]
}
