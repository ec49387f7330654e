package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// watcher keeps the objects of a resource: it lists them, then watches what changes, from the version of the list on. A watch
// that ends goes on where it ended; the list is read anew only if that version is gone.
type watcher struct {
	api      *apiServer
	resource resource
	decode   decoder
	sink     *source
	jitter   func() float64 // from 0 to 1
	failures int            // in a row, of one kind
	answered bool           // the last failure was a response of the API server
}

// Times of a [watcher].
const (
	firstRetry = time.Second      // after a failure; it doubles
	lastRetry  = 30 * time.Second // the most, if the API server responds
	reconnect  = 3 * time.Second  // the most, if it does not: after an outage the gateway is back within 5 s
	shortWatch = 5 * time.Second  // a watch that ends earlier, without an event, is a failure
	// shortWatches is the number of failures in a row after which such a watch is reported.
	shortWatches = 3
	watchTime    = 5 * time.Minute // of a watch, at least; at most twice that
	listTime     = time.Minute     // of a list
)

// run reports to the sink, by steps that apply runs, until ctx ends.
func (w *watcher) run(ctx context.Context, apply func(func())) {
	version := ""
	for ctx.Err() == nil {
		var err error
		if version == "" {
			version, err = w.list(ctx, apply)
		}
		if err == nil {
			version, err = w.watch(ctx, version, apply)
		}
		if ctx.Err() != nil {
			return
		}
		if isGone(err) {
			version = ""
		} else if err != nil && (!errors.Is(err, errShort) || w.failures >= shortWatches) {
			described := fmt.Errorf("%s: %w", w.resource, err)
			apply(func() { w.sink.fail(described) })
		}
		w.rest(ctx, err)
	}
}

// rest waits after a failure. A version that is gone is the first time no reason to wait.
func (w *watcher) rest(ctx context.Context, err error) {
	if err == nil {
		w.failures = 0
		return
	}
	var status *statusError
	responded, most := errors.As(err, &status), lastRetry
	answered := responded || errors.Is(err, errShort)
	if !answered {
		most = reconnect
	}
	if answered != w.answered { // an API server that is back may respond with errors at first
		w.answered, w.failures = answered, 0
	}
	w.failures++
	if isGone(err) && w.failures == 1 {
		return
	}
	wait := min(firstRetry<<min(w.failures-1, 10), most)
	wait = wait/2 + time.Duration(w.jitter()*float64(wait)) // replicas don't come at once
	if responded {
		wait = max(wait, min(status.retryAfter, 10*lastRetry))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// listed is a whole list.
type listed struct {
	objects map[string]object
	wrong   map[string]error
	dropped int
}

// list reads the list page by page, and returns its version.
func (w *watcher) list(ctx context.Context, apply func(func())) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	l := &listed{objects: map[string]object{}, wrong: map[string]error{}}
	next := ""
	for range maxObjects / pageObjects * 2 { // a server may have its own limit
		p, err := w.api.listPage(ctx, w.resource, next)
		if err != nil {
			return "", err
		}
		version = p.Metadata.ResourceVersion
		for _, item := range p.Items {
			w.add(l, item)
		}
		if next = p.Metadata.Continue; next == "" {
			break
		}
	}
	if next != "" {
		l.dropped = max(l.dropped, 1) // how many there are is not known
	}
	apply(func() { w.sink.replace(l) })
	return version, nil
}

func (w *watcher) add(l *listed, item []byte) {
	key, _, o, err := w.decode(item)
	switch {
	case err == nil && len(l.objects) < maxObjects:
		l.objects[key] = o
	case err == nil:
		l.dropped++
	case len(l.wrong) < maxObjects:
		l.wrong[key] = err
	}
}

// errShort is the end of a watch that told nothing: a proxy may cut it at once, again and again.
var errShort = errors.New("the watch ended at once")

// watch takes over what changes after a version, and returns the version to go on from.
func (w *watcher) watch(ctx context.Context, version string, apply func(func())) (string, error) {
	end := watchTime + time.Duration(w.jitter()*float64(watchTime))
	ctx, cancel := context.WithTimeout(ctx, end+lastRetry) // the API server ends it before that
	defer cancel()
	start := time.Now()
	e, err := w.api.openWatch(ctx, w.resource, version, end)
	if err != nil {
		return version, err
	}
	defer e.close()
	apply(func() { w.sink.fail(nil) })
	for count := 0; ; count++ {
		one, err := e.next()
		if err == nil {
			version, err = w.take(&one, version, apply)
		} else if e.broke(err) {
			// That a connection ends is no failure; the next request shows whether there is one.
			if count == 0 && time.Since(start) < shortWatch {
				return version, errShort
			}
			return version, nil
		}
		if err != nil {
			return version, err
		}
		w.failures = 0
	}
}

var errWrongEvent = errors.New("expected an event of a watch")

// take takes over one event, and returns the version after it.
func (w *watcher) take(one *event, version string, apply func(func())) (string, error) {
	switch one.Type {
	case "ADDED", "MODIFIED":
		key, next, o, err := w.decode(one.Object)
		apply(func() { w.sink.set(key, o, err) })
		return orElse(next, version), nil
	case "DELETED", "BOOKMARK":
		var id identity
		if err := json.Unmarshal(one.Object, &id); err != nil {
			return version, fmt.Errorf("%w: %w", errWrongEvent, unexpected(err))
		}
		if one.Type == "DELETED" {
			apply(func() { w.sink.remove(id.Metadata.Namespace + "/" + id.Metadata.Name) })
		}
		return orElse(id.Metadata.ResourceVersion, version), nil
	case "ERROR":
		var s status
		if err := json.Unmarshal(one.Object, &s); err != nil {
			return version, fmt.Errorf("%w: %w", errWrongEvent, unexpected(err))
		}
		return version, s.err(s.Code)
	}
	return version, fmt.Errorf("%w, got the type %.40q", errWrongEvent, one.Type)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
