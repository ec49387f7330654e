package cache

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Beyond is a response cache that replicas share. It is safe for concurrent use, and reports no
// errors: a failed Get finds nothing, and a failed Put stores nothing.
type Beyond interface {
	// Get returns the value of a key and its remaining lifetime; nil if there is none. It never
	// returns a response to a request from before a change at its place in its group. The mark must
	// be passed to a later Put, to detect such a change; with "" nothing may be put. Get blocks
	// briefly at most.
	Get(ctx context.Context, key, group, place string) (value []byte, left time.Duration, mark string)
	// Put stores a value, which must not be modified any more, for a time. owner is charged for it;
	// "" for no particular one. It does not block.
	Put(key, owner, mark string, value []byte, life time.Duration)
	// Changed invalidates, here and elsewhere, what was put before for places of a group. It blocks
	// briefly at most.
	Changed(ctx context.Context, group string, places []string)
}

// maxFlight is the maximum duration of a request whose response is shared: invalidations are
// remembered for little longer than responses are stored.
const maxFlight = 4 * time.Minute

// maxBeyond is the maximum size of a shared body in bytes.
const maxBeyond = 256 << 10

// With makes the cache use b for what it does not have. It must be called before the first request.
func (c *Cache) With(b Beyond) { c.beyond = b }

// Changed is [Cache.Forget], here and in the shared cache.
func (c *Cache) Changed(ctx context.Context, group string, urls ...*url.URL) {
	c.Forget(group, urls...)
	if c.beyond != nil {
		var places []string
		for _, u := range urls {
			for _, at := range affected(group, u) {
				places = append(places, at.String())
			}
		}
		c.beyond.Changed(ctx, group, places)
		c.Forget(group, urls...) // again, because stale responses could be found there until now
	}
}

// Missed invalidates everything, because changes by other replicas may have been missed. Responses
// of requests in flight are not stored.
func (c *Cache) Missed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetAll(func(place) bool { return true })
}

// Stale invalidates the responses at places of a group, as named by [Beyond].Changed, but not those
// above them; without places, the whole group.
func (c *Cache) Stale(group string, places []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(places) == 0 {
		c.forgetAll(func(at place) bool { return at.group == group })
	}
	for _, at := range places {
		if host := strings.Index(at, "://"); host >= 0 {
			if slash := strings.IndexByte(at[host+3:], '/'); slash >= 0 {
				c.forget(place{group, at[:host+3+slash], at[host+3+slash:]})
			}
		}
	}
}

// String returns the name of a place within its group.
func (p place) String() string { return p.origin + p.path }

// affected returns the places that a change at a URL invalidates: its own, and those above it,
// which may list it.
func affected(group string, u *url.URL) []place {
	at := placeOf(group, u)
	all := []place{at}
	if up := path.Dir(strings.TrimSuffix(at.path, "/")); up != "." && up != at.path {
		all = append(all, place{at.group, at.origin, up})
		if up != "/" {
			all = append(all, place{at.group, at.origin, up + "/"})
		}
	}
	return all
}

// getShared looks for the response of a flight in the shared cache. The mark is kept in the flight.
func (c *Cache) getShared(f *flight, req *http.Request, r *Rule) *entry {
	if c.beyond == nil {
		return nil
	}
	text, left, mark := c.beyond.Get(req.Context(), string(f.key[:]), f.place.group, f.place.String())
	f.mark = mark
	if text == nil {
		return nil
	}
	e, ok := f.decode(text, req, r, left, c.now())
	if !ok {
		return nil
	}
	f.mark = "" // it is stored there already
	return e
}

// putShared stores a response in the shared cache.
func (c *Cache) putShared(f *flight, e *entry) {
	if left := e.lifetime - e.age - c.now().Sub(e.received); f.mark != "" && left > 0 && len(e.body) <= maxBeyond && c.now().Sub(f.began) < maxFlight {
		if text := e.encode(); text != nil {
			c.beyond.Put(string(f.key[:]), f.owner, f.mark, text, left)
		}
	}
}

// entryHead is an entry without its body, in its shared form.
type entryHead struct {
	Status   int         `json:"s"`
	Header   http.Header `json:"h"`
	Length   int64       `json:"l"`
	Age      int64       `json:"a"` // in milliseconds, like Received
	Received int64       `json:"r"`
}

// encode returns the shared form of an entry: the length of its head, head and body.
func (e *entry) encode() []byte {
	head, err := json.Marshal(entryHead{e.status, e.header, e.length, e.age.Milliseconds(), e.received.UnixMilli()})
	if err != nil {
		return nil // not reached: all fields are valid JSON
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(head)+len(e.body)), uint32(len(head))) //nolint:gosec // headers are bounded
	return append(append(b, head...), e.body...)
}

// decode reverses encode, and applies the current rule, which may differ from that of the replica
// that stored it. left is the remaining lifetime, independent of the other's clock.
func (f *flight) decode(text []byte, req *http.Request, r *Rule, left time.Duration, now time.Time) (*entry, bool) {
	if len(text) < 4 {
		return nil, false
	}
	n := int64(binary.BigEndian.Uint32(text))
	if n > int64(len(text)-4) {
		return nil, false
	}
	var head entryHead
	body := text[4+n:]
	if json.Unmarshal(text[4:4+n], &head) != nil || int64(len(body)) > r.MaxBytes || head.Age < 0 {
		return nil, false
	}
	const most = int64(1) << 40
	e := &entry{
		key: f.key, place: f.place, owner: f.owner, status: head.Status, header: head.Header, body: body, length: head.Length,
		age: time.Duration(min(head.Age, most)) * time.Millisecond, received: time.UnixMilli(min(max(head.Received, 0), most<<4)),
	}
	if e.received.After(now) {
		e.received = now
	}
	if e.header == nil {
		e.header = http.Header{}
	}
	for _, name := range notKept {
		delete(e.header, name)
	}
	lifetime, _, ok := r.storable(e.response(req), e.received) //nolint:bodyclose // of bytes
	e.lifetime = min(lifetime, e.age+now.Sub(e.received)+left)
	e.computeSize()
	e.size += int64(len(text) - len(body)) // which the body keeps in memory
	return e, ok && e.isFresh(now)
}
