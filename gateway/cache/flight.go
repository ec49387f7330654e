package cache

import (
	"context"
	"maps"
	"net/http"
	"time"
)

// unkeptTime is how long requests don't wait for each other after an answer that could not be kept.
const unkeptTime = 10 * time.Second

// flight is one request on its way, for all that come with the same name meanwhile.
type flight struct {
	key   key
	place place
	owner string
	began time.Time
	done  chan struct{} // closed when it is known what became of it

	mark string // with which the answer is put beyond; "": it is not. Of who makes the request

	// Guarded by the mutex of the store until done is closed.
	doomed bool   // what it brings is stale already
	ended  bool   // done is closed
	kept   *entry // nil: the answer could not be kept
	gone   bool   // who made the request has left: another should
}

// Do answers a request with what is kept, or has fetch make it and keeps the answer. Of requests with the same name that come at the
// same time one is made, and the others get its answer if it is kept and fresh; one whose context ends leaves, and if that is the one
// that made the request, another makes it; if that one stops reading, each asks for itself. An answer that fetch returned is given as it is, and is kept when its body was read to its
// end. The error is that of fetch, or of the request's context. Do may add headers to the request.
func (c *Cache) Do(req *http.Request, n Name, r *Rule, fetch func(*http.Request) (*http.Response, error)) (*http.Response, Outcome, error) {
	count := func(o Outcome) Outcome {
		if r.Count != nil {
			r.Count(o)
		}
		return o
	}
	if !asks(req) {
		resp, err := fetch(req)
		return resp, count(Bypass), err
	}
	k := keyOf(req, n)
	for {
		e, f, own := c.look(req, k, n)
		switch {
		case own:
			resp, o, err := c.fly(f, req, e, r, fetch)
			return resp, count(o), err
		case f == nil && e.until.IsZero():
			return e.response(req), count(Hit), nil
		case f == nil:
			resp, err := fetch(req)
			return resp, count(Bypass), err
		}
		select {
		case <-f.done:
		case <-req.Context().Done():
			return nil, count(Miss), context.Cause(req.Context())
		}
		switch {
		case f.kept != nil && f.kept.isFresh(c.now()):
			return f.kept.response(req), count(Hit), nil
		case f.gone:
			continue
		}
		resp, err := fetch(req) // it can't be answered for others
		return resp, count(Miss), err
	}
}

// look finds what is kept and of use, an answer or that there is none to keep; else f is the flight that brings one. own tells that it has just begun,
// for who asks, with the answer that is no longer fresh, if there is one.
func (c *Cache) look(req *http.Request, k key, n Name) (e *entry, f *flight, own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[k]; e != nil {
		c.touch(e)
		if now := c.now(); e.isFresh(now) || now.Before(e.until) {
			return e, nil, false
		}
		if !e.until.IsZero() {
			e = nil
		}
	}
	if f = c.flights[k]; f != nil {
		return nil, f, false
	}
	return e, c.takeOff(req, k, n), true
}

// takeOff begins a flight. The mutex is held.
func (c *Cache) takeOff(req *http.Request, k key, n Name) *flight {
	f := &flight{key: k, place: placeOf(n.Group, req.URL), owner: n.Owner, began: c.now(), done: make(chan struct{})}
	c.flights[k] = f
	if c.airborn[f.place] == nil {
		c.airborn[f.place] = map[*flight]struct{}{}
	}
	c.airborn[f.place][f] = struct{}{}
	return f
}

// land ends a flight, once. e is the answer if it was kept, gone tells that nobody knows.
func (c *Cache) land(f *flight, e *entry, r *Rule, gone bool) {
	if !c.end(f, e, gone) {
		return
	}
	if r.Count != nil {
		r.Count(Stored)
	}
	if c.beyond != nil {
		c.putBeyond(f, e)
	}
}

// end tells those who wait for a flight what has become of it, also if something panics here. It returns whether the answer was kept.
func (c *Cache) end(f *flight, e *entry, gone bool) (stored bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.ended {
		return false
	}
	f.ended, f.gone = true, gone
	defer func() {
		if c.flights[f.key] == f {
			delete(c.flights, f.key)
		}
		if delete(c.airborn[f.place], f); len(c.airborn[f.place]) == 0 {
			delete(c.airborn, f.place)
		}
		close(f.done)
	}()
	if stored = e != nil && !f.doomed && c.put(e); stored {
		f.kept = e
	} else if !gone && !f.doomed {
		none := &entry{key: f.key, place: f.place, owner: f.owner, until: c.now().Add(unkeptTime)}
		none.weigh()
		if old := c.entries[f.key]; old == nil || e != nil {
			c.put(none)
		}
	}
	return stored
}

// fly makes the request of a flight. old is what was kept and is no longer fresh; nil: nothing.
func (c *Cache) fly(f *flight, req *http.Request, old *entry, r *Rule, fetch func(*http.Request) (*http.Response, error)) (_ *http.Response, _ Outcome, err error) {
	landed := false
	defer func() {
		if !landed { // a panic, or an error
			c.land(f, nil, r, err == nil || req.Context().Err() != nil)
		}
	}()
	if e := c.lookBeyond(f, req, r); e != nil {
		landed = true
		c.land(f, e, r, false)
		return e.response(req), Shared, nil
	}
	var conditions http.Header
	if old != nil {
		if conditions = Validators(old.header); conditions != nil {
			maps.Copy(req.Header, conditions)
		}
	}
	asked := c.now()
	resp, err := fetch(req)
	if err != nil {
		return nil, Miss, err
	}
	received := c.now()
	if conditions != nil && resp.StatusCode == http.StatusNotModified && !isOf(old.header, resp.Header) {
		_ = resp.Body.Close()
		c.drop(old)
		for name := range conditions {
			delete(req.Header, name)
		}
		old, conditions, asked = nil, nil, c.now()
		if resp, err = fetch(req); err != nil {
			return nil, Miss, err
		}
		received = c.now()
	}
	if conditions != nil && resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		landed = true
		next, ok := old.freshened(resp, r, asked, received)
		if !ok {
			c.drop(old)
			c.land(f, nil, r, false)
			return old.response(req), Revalidated, nil
		}
		c.land(f, next, r, false)
		return next.response(req), Revalidated, nil
	}
	lifetime, said, ok := r.storable(resp, received)
	if old != nil && (resp.StatusCode < 500 || ok) {
		c.drop(old)
	}
	landed = true
	if !ok || resp.ContentLength > r.MaxBytes && req.Method == http.MethodGet {
		c.land(f, nil, r, false)
		return resp, Miss, nil
	}
	c.keep(f, req, resp, r, f.newEntry(resp, lifetime, said, asked, received))
	return resp, Miss, nil
}

func (c *Cache) drop(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}
