package endpoint

import (
	"crypto/sha256"
	"slices"
	"sync"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
)

// view is a list as seen by callers with the same permissions, in one protocol revision.
type view struct {
	Pages  [][]byte                  // JSON arrays of definitions
	Size   int                       // of all pages, in bytes
	static func() *mcp.Precompressed // the only page, also compressed
	digest func() [32]byte           // of the list, to detect cursors of another list; computed on first use if there are several pages
}

// newView returns the view with the given pages, which are stored under a member of the list's result.
func newView(member string, pages [][]byte) *view {
	if len(pages) == 0 {
		pages = [][]byte{[]byte("[]")}
	}
	v := &view{Pages: pages}
	for _, page := range pages {
		v.Size += len(page)
	}
	// The only page is stored once, within its result.
	head := []byte(`"` + member + `":`)
	result := slices.Concat(head, pages[0])
	pages[0] = result[len(head):]
	v.static = sync.OnceValue(func() *mcp.Precompressed { return mcp.NewPrecompressed(result) })
	v.digest = sync.OnceValue(func() (sum [32]byte) {
		h := sha256.New()
		for _, page := range v.Pages {
			h.Write(page)
		}
		h.Sum(sum[:0])
		return sum
	})
	return v
}

// viewKey identifies a view of an endpoint.
type viewKey struct {
	list     string // its member in the result
	features catalog.Features
	visible  auth.View // the zero View if every caller sees all tools
	skills   auth.View // the same for skills
	query    string    // by which a client has chosen the list; "" if it has not
}

// Limits of the views cached per endpoint, so that a client that can get tokens with many scope sets can't exhaust the memory.
const (
	MaxViews     = 256
	maxViewBytes = 64 << 20 // of their pages; each may be held once more, compressed
)

// pageCache holds the views of an endpoint. It is safe for concurrent use.
type pageCache struct {
	mu    sync.Mutex
	Views map[viewKey]*view
	Bytes int // of all views
	// digests are those of lists that clients have chosen, whose pages are not kept: streams compare them after each change.
	digests map[viewKey][32]byte
}

func newPageCache() *pageCache {
	return &pageCache{Views: map[viewKey]*view{}, digests: map[viewKey][32]byte{}}
}

// digest returns the digest of a list that a client has chosen.
func (c *pageCache) digest(key viewKey, build func() *view) [32]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, known := c.digests[key]; known {
		return d
	}
	d := build().digest()
	for other := range c.digests { // any: digests are computed again on demand
		if len(c.digests) < MaxViews {
			break
		}
		delete(c.digests, other)
	}
	c.digests[key] = d
	return d
}

// get returns a view, which it builds at the first request.
func (c *pageCache) get(key viewKey, build func() *view) *view {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.Views[key]; v != nil {
		return v
	}
	v := build()
	for other, old := range c.Views { // any: views are rebuilt on demand
		if len(c.Views) < MaxViews && c.Bytes+v.Size <= maxViewBytes {
			break
		}
		delete(c.Views, other)
		c.Bytes -= old.Size
	}
	c.Views[key] = v
	c.Bytes += v.Size
	return v
}
