package consul

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/gateway/discovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeAgent speaks the part of Consul's API that is used, with blocking queries on one index, as older versions have it.
type fakeAgent struct {
	mu       sync.Mutex
	index    uint64
	services map[string][]entry
	changed  chan struct{} // closed by the next change
	down     bool
	starting bool // it has not read its log: stale reads find an empty catalog, and consistent ones fail
	queries  int  // all so far
	waiting  int  // under way
	most     int  // under way at one time
}

func newAgent() *fakeAgent {
	return &fakeAgent{index: 10, services: map[string][]entry{"consul": {instance("consul", "10.0.0.9", 8300)}}, changed: make(chan struct{})}
}

// instance returns a healthy instance.
func instance(id, address string, port int, tags ...string) entry {
	var e entry
	e.Node.Address = "10.9.9.9"
	e.Service.ID, e.Service.Address, e.Service.Port, e.Service.Tags = id, address, port, tags
	e.Checks = []check{{Status: "passing"}, {Status: "passing"}}
	return e
}

// change changes what the agent knows.
func (a *fakeAgent) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	a.index++
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *fakeAgent) set(name string, entries ...entry) {
	a.change(func() {
		if len(entries) == 0 {
			delete(a.services, name)
		} else {
			a.services[name] = entries
		}
	})
}

// load returns how many queries there were, and how many at one time.
func (a *fakeAgent) load() (all, most int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queries, a.most
}

func (a *fakeAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queries++
	a.waiting++
	a.most = max(a.most, a.waiting)
	defer func() { a.waiting-- }()
	query := r.URL.Query()
	index, _ := strconv.ParseUint(query.Get("index"), 10, 64)
	wait, err := time.ParseDuration(query.Get("wait"))
	if index > 0 && err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	for late := false; !a.down && !a.starting && index > 0 && index >= a.index && !late; {
		changed := a.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-end.C:
			late = true
		case <-r.Context().Done():
			late = true
		}
		a.mu.Lock()
	}
	stale := query.Has("stale")
	if a.down || a.starting && !stale {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	services := a.services
	if a.starting {
		index, services = 1, nil
	} else {
		index = a.index
	}
	w.Header().Set("X-Consul-Index", strconv.FormatUint(index, 10))
	w.Header().Set("X-Consul-KnownLeader", "true")
	var answer any
	if name, ok := strings.CutPrefix(r.URL.Path, "/v1/health/service/"); ok {
		answer = append([]entry{}, services[name]...)
	} else {
		names := map[string][]string{}
		for name, entries := range services {
			names[name] = []string{}
			for i := range entries {
				names[name] = append(names[name], entries[i].Service.Tags...)
			}
		}
		answer = names
	}
	_ = json.NewEncoder(w).Encode(answer) // an in-memory recorder
}

// direct is a client whose requests are served without a network, so that time can be that of a bubble.
type direct struct{ http.Handler }

func (d direct) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// report is what a provider reports, as text.
func report(targets []discovery.Target, err error) string {
	var b strings.Builder
	if targets == nil {
		b.WriteString("the last")
	}
	for i := range targets {
		t := &targets[i]
		fmt.Fprintf(&b, "%s%s ", t.Name, t.Instances)
	}
	if err != nil {
		b.WriteString("error")
	}
	return strings.TrimSpace(b.String())
}

// started runs a provider and returns what it reports.
func started(t *testing.T, p *Provider) *recorder {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx, r.add)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// recorder has the newest report.
type recorder struct {
	mu    sync.Mutex
	text  string
	count int
	err   error
}

func (r *recorder) add(targets []discovery.Target, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.count, r.err = "", len(targets), err
	if len(targets) < 1000 {
		r.text = report(targets, err)
	}
}

func (r *recorder) last() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text, r.err
}

// services returns how many services the newest report has.
func (r *recorder) services() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}
