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

// Beyond is where other replicas find what this one has kept. It is safe for concurrent use, and nothing of it fails: what can't be
// told is not there, and what can't be kept is not.
type Beyond interface {
	// Get returns what was put under a key, and for how long it may be used; nil: there is nothing. Nothing is returned that was asked for
	// before something at its place in its group was changed. What is put later has to bring the mark, which says so; "": it can't be
	// told, and nothing may be put. It waits shortly at most.
	Get(ctx context.Context, key, group, place string) (value []byte, left time.Duration, mark string)
	// Put keeps a value, which must not be written to any more, for a time. owner is who pays for it; "": nobody in particular. It waits
	// for nothing.
	Put(key, owner, mark string, value []byte, life time.Duration)
	// Changed makes stale, here and elsewhere, what was put for places of a group before. It waits shortly at most.
	Changed(ctx context.Context, group string, places []string)
}

// maxFlight is the longest that a request may take whose answer is put beyond: what makes it stale is remembered there for little longer than answers are
// kept.
const maxFlight = 4 * time.Minute

// maxBeyond is the most bytes of a body that is kept beyond.
const maxBeyond = 256 << 10

// With has the cache look beyond for what it does not have. It is for the time before the first request.
func (c *Cache) With(b Beyond) { c.beyond = b }

// Changed is [Cache.Forget], here and beyond.
func (c *Cache) Changed(ctx context.Context, group string, urls ...*url.URL) {
	c.Forget(group, urls...)
	if c.beyond != nil {
		var places []string
		for _, u := range urls {
			for _, at := range around(group, u) {
				places = append(places, at.String())
			}
		}
		c.beyond.Changed(ctx, group, places)
		c.Forget(group, urls...) // until now what is stale was still found there
	}
}

// Missed forgets all: a change that others have made may not have been heard. Answers on their way are not kept.
func (c *Cache) Missed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetAll(func(place) bool { return true })
}

// Stale forgets what is at places of a group, as [Beyond].Changed names them, and nothing above them; without places, all of the group.
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

// String names a place within its group.
func (p place) String() string { return p.origin + p.path }

// around are the places that a change at a URL makes stale: its own, and those above it, which may list it.
func around(group string, u *url.URL) []place {
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

// lookBeyond looks for the answer of a flight where other replicas have put theirs. The mark stays with the flight.
func (c *Cache) lookBeyond(f *flight, req *http.Request, r *Rule) *entry {
	if c.beyond == nil {
		return nil
	}
	text, left, mark := c.beyond.Get(req.Context(), string(f.key[:]), f.place.group, f.place.String())
	f.mark = mark
	if text == nil {
		return nil
	}
	e, ok := f.parse(text, req, r, left, c.now())
	if !ok {
		return nil
	}
	f.mark = "" // it is there already
	return e
}

// putBeyond puts a kept answer where other replicas find it.
func (c *Cache) putBeyond(f *flight, e *entry) {
	if left := e.lifetime - e.age - c.now().Sub(e.received); f.mark != "" && left > 0 && len(e.body) <= maxBeyond && c.now().Sub(f.began) < maxFlight {
		if text := e.text(); text != nil {
			c.beyond.Put(string(f.key[:]), f.owner, f.mark, text, left)
		}
	}
}

// entryHead is an entry without its body, as it stands beyond.
type entryHead struct {
	Status   int         `json:"s"`
	Header   http.Header `json:"h"`
	Length   int64       `json:"l"`
	Age      int64       `json:"a"` // in milliseconds, as Received
	Received int64       `json:"r"`
}

// text is the entry as it stands beyond: the length of its head, head and body.
func (e *entry) text() []byte {
	head, err := json.Marshal(entryHead{e.status, e.header, e.length, e.age.Milliseconds(), e.received.UnixMilli()})
	if err != nil {
		return nil // it is made of what JSON takes
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(head)+len(e.body)), uint32(len(head))) //nolint:gosec // headers are bounded
	return append(append(b, head...), e.body...)
}

// parse reads what text has made, as the rule takes it now: that of whoever has put it may have been another. left is how long it may be
// used, whatever the clock of the other says.
func (f *flight) parse(text []byte, req *http.Request, r *Rule, left time.Duration, now time.Time) (*entry, bool) {
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
	e.weigh()
	e.size += int64(len(text) - len(body)) // which the body keeps in memory
	return e, ok && e.isFresh(now)
}
