package cache

import (
	"context"
	"maps"
	"net/http"
	"time"
)

// unkeptTime is the time for which requests do not wait for each other after a response that could
// not be stored.
const unkeptTime = 10 * time.Second

// flight is a request in flight, with all requests of the same name that wait for it.
type flight struct {
	key   key
	place place
	owner string
	began time.Time
	done  chan struct{} // closed when the outcome is known

	mark string // for sharing the response; "" if it is not shared; used by the requesting goroutine only

	// Guarded by the mutex of the store until done is closed.
	invalidated bool   // the response must not be stored
	ended       bool   // done is closed
	stored      *entry // nil if the response could not be stored
	abandoned   bool   // the requester has left: another should send the request
}

// Do answers a request from the cache, or calls fetch and stores the response. Concurrent requests
// with the same name are coalesced: one is sent, and the others get its response if it is stored
// and fresh. A request whose context ends leaves; if it was the one being sent, another is sent
// instead; if its caller stops reading, each of the others is sent. A response of fetch is returned
// as it is, and stored when its body has been read to its end. The error is that of fetch, or of
// the request's context. Do may add headers to the request.
func (c *Cache) Do(req *http.Request, n Name, r *Rule, fetch func(*http.Request) (*http.Response, error)) (*http.Response, Outcome, error) {
	count := func(o Outcome) Outcome {
		if r.Count != nil {
			r.Count(o)
		}
		return o
	}
	if !isCacheable(req) {
		resp, err := fetch(req)
		return resp, count(Bypass), err
	}
	k := keyOf(req, n)
	for {
		e, f, own := c.look(req, k, n)
		switch {
		case own:
			resp, o, err := c.send(f, req, e, r, fetch)
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
		case f.stored != nil && f.stored.isFresh(c.now()):
			return f.stored.response(req), count(Hit), nil
		case f.abandoned:
			continue
		}
		resp, err := fetch(req) // the response can't be shared
		return resp, count(Miss), err
	}
}

// look returns a usable entry, which may mark that nothing can be stored; otherwise the flight that
// will bring one. own reports that the flight was just started by this request, and e is then the
// stale entry, if there is one.
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
	return e, c.startFlight(req, k, n), true
}

// startFlight starts a flight. The caller holds the mutex.
func (c *Cache) startFlight(req *http.Request, k key, n Name) *flight {
	f := &flight{key: k, place: placeOf(n.Group, req.URL), owner: n.Owner, began: c.now(), done: make(chan struct{})}
	c.flights[k] = f
	if c.inFlight[f.place] == nil {
		c.inFlight[f.place] = map[*flight]struct{}{}
	}
	c.inFlight[f.place][f] = struct{}{}
	return f
}

// finish ends a flight, once. e is the response if it can be stored; abandoned reports that the
// outcome is unknown.
func (c *Cache) finish(f *flight, e *entry, r *Rule, abandoned bool) {
	if !c.end(f, e, abandoned) {
		return
	}
	if r.Count != nil {
		r.Count(Stored)
	}
	if c.beyond != nil {
		c.putShared(f, e)
	}
}

// end ends a flight, wakes its waiters even after a panic, and reports whether the response was
// stored.
func (c *Cache) end(f *flight, e *entry, abandoned bool) (stored bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.ended {
		return false
	}
	f.ended, f.abandoned = true, abandoned
	defer func() {
		if c.flights[f.key] == f {
			delete(c.flights, f.key)
		}
		if delete(c.inFlight[f.place], f); len(c.inFlight[f.place]) == 0 {
			delete(c.inFlight, f.place)
		}
		close(f.done)
	}()
	if stored = e != nil && !f.invalidated && c.put(e); stored {
		f.stored = e
	} else if !abandoned && !f.invalidated {
		none := &entry{key: f.key, place: f.place, owner: f.owner, until: c.now().Add(unkeptTime)}
		none.computeSize()
		if old := c.entries[f.key]; old == nil || e != nil {
			c.put(none)
		}
	}
	return stored
}

// send sends the request of a flight. old is the stale entry, or nil.
func (c *Cache) send(f *flight, req *http.Request, old *entry, r *Rule, fetch func(*http.Request) (*http.Response, error)) (_ *http.Response, _ Outcome, err error) {
	finished := false
	defer func() {
		if !finished { // a panic, or an error
			c.finish(f, nil, r, err == nil || req.Context().Err() != nil)
		}
	}()
	if e := c.getShared(f, req, r); e != nil {
		finished = true
		c.finish(f, e, r, false)
		return e.response(req), Shared, nil
	}
	var conditions http.Header
	if old != nil {
		if conditions = Validators(old.header); conditions != nil {
			maps.Copy(req.Header, conditions)
		}
	}
	requested := c.now()
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
		old, conditions, requested = nil, nil, c.now()
		if resp, err = fetch(req); err != nil {
			return nil, Miss, err
		}
		received = c.now()
	}
	if conditions != nil && resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		finished = true
		next, ok := old.freshened(resp, r, requested, received)
		if !ok {
			c.drop(old)
			c.finish(f, nil, r, false)
			return old.response(req), Revalidated, nil
		}
		c.finish(f, next, r, false)
		return next.response(req), Revalidated, nil
	}
	lifetime, said, ok := r.storable(resp, received)
	if old != nil && (resp.StatusCode < 500 || ok) {
		c.drop(old)
	}
	finished = true
	if !ok || resp.ContentLength > r.MaxBytes && req.Method == http.MethodGet {
		c.finish(f, nil, r, false)
		return resp, Miss, nil
	}
	c.keep(f, req, resp, r, f.newEntry(resp, lifetime, said, requested, received))
	return resp, Miss, nil
}

func (c *Cache) drop(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}
