package cache

import (
	"cmp"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"drawbridge/openapi/origin"
)

// Name is the cache key of a response, in addition to method and URL of its request. Two requests
// may have the same name only if the service must answer both in the same way.
type Name struct {
	// Group is the service. A change invalidates responses of its group only.
	Group string
	// Owner is the caller that the response is for; "" for all callers. No owner can use more than
	// a quarter of the capacity.
	Owner string
	// Variant covers everything else that the response depends on: the operation, the credential,
	// the headers.
	Variant string
}

type key [sha256.Size]byte

// place identifies resources that change together: a path of an origin, with any query.
type place struct{ group, origin, path string }

// Cache stores responses. It is bounded, with LRU eviction, and safe for concurrent use.
type Cache struct {
	now      func() time.Time
	panicked func(what string, v any)
	beyond   Beyond // nil if responses are not shared

	mu       sync.Mutex
	limit    int64
	bytes    int64
	entries  map[key]*entry
	order    *list.List // of *entry; the most recently used in front
	owners   map[string]*owned
	places   map[place]map[*entry]struct{}
	flights  map[key]*flight
	inFlight map[place]map[*flight]struct{}
}

// owned holds the entries of one owner.
type owned struct {
	order *list.List // of *entry
	bytes int64
}

// ownerShare is the divisor of the capacity that one owner can use.
const ownerShare = 4

// New returns a cache of so many bytes; with 0 it stores nothing. now is the clock, time.Now if
// nil. panicked is called for panics in background goroutines; it may be nil.
func New(bytes int64, now func() time.Time, panicked func(what string, v any)) *Cache {
	if now == nil {
		now = time.Now
	}
	if panicked == nil {
		panicked = func(string, any) {}
	}
	return &Cache{now: now, panicked: panicked, limit: bytes, entries: map[key]*entry{}, order: list.New(), owners: map[string]*owned{},
		places: map[place]map[*entry]struct{}{}, flights: map[key]*flight{}, inFlight: map[place]map[*flight]struct{}{}}
}

// Resize changes the capacity, and evicts what exceeds it.
func (c *Cache) Resize(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = bytes
	c.shrink()
}

// Size returns the approximate bytes and the number of the entries.
func (c *Cache) Size() (bytes int64, answers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes, len(c.entries)
}

// Forget invalidates all responses that a change at a URL may affect (RFC 9111 section 4.4): those
// of its path, with any query and of any owner, and those of the path above it, which may list it.
// Responses of requests in flight are not stored.
func (c *Cache) Forget(group string, urls ...*url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range urls {
		for _, at := range affected(group, u) {
			c.forget(at)
		}
	}
}

func (c *Cache) forget(at place) {
	for e := range c.places[at] {
		c.remove(e)
	}
	for f := range c.inFlight[at] {
		f.invalidated = true
		if c.flights[f.key] == f {
			delete(c.flights, f.key)
		}
	}
}

func (c *Cache) forgetAll(of func(place) bool) {
	for at := range c.places {
		if of(at) {
			c.forget(at)
		}
	}
	for at := range c.inFlight {
		if of(at) {
			c.forget(at)
		}
	}
}

// placeOf returns the place of a URL, independent of its spelling.
func placeOf(group string, u *url.URL) place {
	at := strings.Split(u.EscapedPath(), "/")
	for i, part := range at {
		if plain, err := url.PathUnescape(part); err == nil {
			at[i] = url.PathEscape(plain)
		}
	}
	o, _ := origin.Of(u) // the URL of a request has one
	return place{group, o.String(), cmp.Or(strings.Join(at, "/"), "/")}
}

// keyOf returns the digest of everything that a response depends on.
func keyOf(req *http.Request, n Name) key {
	h := sha256.New()
	for _, part := range []string{n.Group, n.Owner, n.Variant, req.Method, req.URL.String()} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	var k key
	h.Sum(k[:0])
	return k
}

// put stores an entry and replaces an existing one; it returns false if it is too large. The caller
// holds the mutex.
func (c *Cache) put(e *entry) bool {
	if old := c.entries[e.key]; old != nil {
		c.remove(old)
	}
	if e.size > c.limit/ownerShare {
		return false
	}
	c.entries[e.key] = e
	e.order = c.order.PushFront(e)
	c.bytes += e.size
	if c.places[e.place] == nil {
		c.places[e.place] = map[*entry]struct{}{}
	}
	c.places[e.place][e] = struct{}{}
	if e.owner != "" {
		o := c.owners[e.owner]
		if o == nil {
			o = &owned{order: list.New()}
			c.owners[e.owner] = o
		}
		e.own = o.order.PushFront(e)
		for o.bytes += e.size; o.bytes > c.limit/ownerShare; {
			c.remove(o.order.Back().Value.(*entry)) //nolint:errcheck // the list holds nothing else
		}
	}
	c.shrink()
	return true
}

// shrink evicts entries that exceed the capacity. The caller holds the mutex.
func (c *Cache) shrink() {
	for c.bytes > c.limit && c.order.Len() > 0 {
		c.remove(c.order.Back().Value.(*entry)) //nolint:errcheck // the list holds nothing else
	}
}

// touch marks an entry as used. The caller holds the mutex.
func (c *Cache) touch(e *entry) {
	c.order.MoveToFront(e.order)
	if e.own != nil {
		c.owners[e.owner].order.MoveToFront(e.own)
	}
}

// remove removes an entry. The caller holds the mutex.
func (c *Cache) remove(e *entry) {
	if c.entries[e.key] != e {
		return
	}
	delete(c.entries, e.key)
	c.order.Remove(e.order)
	c.bytes -= e.size
	if delete(c.places[e.place], e); len(c.places[e.place]) == 0 {
		delete(c.places, e.place)
	}
	if e.own != nil {
		o := c.owners[e.owner]
		o.order.Remove(e.own)
		if o.bytes -= e.size; o.order.Len() == 0 {
			delete(c.owners, e.owner)
		}
	}
}
