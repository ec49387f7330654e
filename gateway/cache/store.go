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

	"drawbridge/gateway/origin"
)

// Name is what an answer is kept under, besides method and URL of its request. Two requests have the same name only if the service
// must give both the same answer.
type Name struct {
	// Group is the service. A change there makes answers of the group stale, and no others.
	Group string
	// Owner is whose answer it is; "": everybody's. No owner can take more than a quarter of the room.
	Owner string
	// Variant is all else that decides the answer: the operation, the credential, the headers.
	Variant string
}

type key [sha256.Size]byte

// place is where things are that change together: a path of an origin, whatever the query.
type place struct{ group, origin, path string }

// Cache keeps answers. It is bounded, and forgets first what was not asked for the longest. It is safe for concurrent use.
type Cache struct {
	now      func() time.Time
	panicked func(what string, v any)
	beyond   Beyond // nil: there is nothing

	mu      sync.Mutex
	limit   int64
	bytes   int64
	entries map[key]*entry
	order   *list.List // of *entry; the most recently used in front
	owners  map[string]*owned
	places  map[place]map[*entry]struct{}
	flights map[key]*flight
	airborn map[place]map[*flight]struct{}
}

// owned is what one owner has.
type owned struct {
	order *list.List // of *entry
	bytes int64
}

// ownerShare is the part of the room that one owner can take.
const ownerShare = 4

// New returns a cache of so many bytes; 0: it keeps nothing. now is the clock; nil: time.Now. panicked is told of panics that no caller
// sees; nil: nobody is.
func New(bytes int64, now func() time.Time, panicked func(what string, v any)) *Cache {
	if now == nil {
		now = time.Now
	}
	if panicked == nil {
		panicked = func(string, any) {}
	}
	return &Cache{now: now, panicked: panicked, limit: bytes, entries: map[key]*entry{}, order: list.New(), owners: map[string]*owned{},
		places: map[place]map[*entry]struct{}{}, flights: map[key]*flight{}, airborn: map[place]map[*flight]struct{}{}}
}

// Resize changes the bound; what is too much is forgotten.
func (c *Cache) Resize(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = bytes
	c.shrink()
}

// Size returns the bytes of what is kept, about, and how many answers that is.
func (c *Cache) Size() (bytes int64, answers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes, len(c.entries)
}

// Forget makes all answers stale that a change at a URL may have changed (RFC 9111 section 4.4): those of its path, with whatever query
// and whosever they are, and those of the path above it, which may list it. Answers on their way are not kept.
func (c *Cache) Forget(group string, urls ...*url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range urls {
		for _, at := range around(group, u) {
			c.forget(at)
		}
	}
}

func (c *Cache) forget(at place) {
	for e := range c.places[at] {
		c.remove(e)
	}
	for f := range c.airborn[at] {
		f.doomed = true
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
	for at := range c.airborn {
		if of(at) {
			c.forget(at)
		}
	}
}

// placeOf returns the place of a URL, which is the same however it is spelled.
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

// keyOf digests all that an answer depends on.
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

// put keeps an entry in place of the one that was there; false: it is too large. The mutex is held.
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

// shrink forgets what is too much. The mutex is held.
func (c *Cache) shrink() {
	for c.bytes > c.limit && c.order.Len() > 0 {
		c.remove(c.order.Back().Value.(*entry)) //nolint:errcheck // the list holds nothing else
	}
}

// touch tells that an entry was asked for. The mutex is held.
func (c *Cache) touch(e *entry) {
	c.order.MoveToFront(e.order)
	if e.own != nil {
		c.owners[e.owner].order.MoveToFront(e.own)
	}
}

// remove forgets an entry that is kept. The mutex is held.
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
