package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
	"drawbridge/test/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings reads the configuration of a provider.
func settings(t *testing.T, keys string) *config.DockerDiscovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("discovery: [{name: p, docker: {"+keys+"}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c.Discovery[0].Docker
}

// TestCases reads the lists of containers in testdata: a case has what the configuration says, and what the list is read as.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		var keys, got, want string
		for _, f := range a.Files {
			text := strings.TrimSpace(string(f.Data))
			switch f.Name {
			case "host", "network":
				keys += fmt.Sprintf("%s: %q, ", f.Name, text)
			case "containers.json":
				d := &daemon{list: text}
				containers, err := New(settings(t, keys), d).list(t.Context(), "/v1.44")
				if err != nil {
					t.Fatal(err)
				}
				got = services(New(settings(t, keys), d).targets(containers))
			case "services":
				want = string(f.Data)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	var b strings.Builder
	if targets == nil {
		b.WriteString("the last\n")
	}
	for i := range targets {
		t := &targets[i]
		fmt.Fprintf(&b, "%s/%s %s %s %q %q %q%s\n", t.Namespace, t.Name, t.Scheme, t.Instances, t.BasePath, t.Document, t.Tags, registrytest.Context(t))
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %s\n", err)
	}
	return b.String()
}

// daemon speaks the part of Docker's API that is used, without a network, so that time can be that of a bubble.
type daemon struct {
	mu      sync.Mutex
	version string // "" for 1.51
	list    string
	down    bool
	events  []*io.PipeWriter
	lists   int
}

func (d *daemon) Do(req *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, io.ErrUnexpectedEOF
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}
	switch {
	case req.URL.Path == "/_ping":
		resp.Header.Set("Api-Version", "1.51")
		if d.version != "" {
			resp.Header.Set("Api-Version", d.version)
		}
	case strings.HasSuffix(req.URL.Path, "/events"):
		r, w := io.Pipe()
		context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
		d.events = append(d.events, w)
		resp.Body = r
	case strings.HasSuffix(req.URL.Path, "/containers/json"):
		d.lists++
		resp.Body = io.NopCloser(strings.NewReader(d.list))
	default:
		resp.StatusCode = http.StatusNotFound
	}
	return resp, nil
}

// set changes the list, and tells it if an event is given.
func (d *daemon) set(list, event string) {
	d.mu.Lock()
	d.list = list
	events := d.events
	d.mu.Unlock()
	if event != "" {
		_, _ = io.WriteString(events[len(events)-1], event+"\n") // a stream that has ended is none
	}
}

// count returns how often the list was read.
func (d *daemon) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lists
}

// stop ends the streams of events.
func (d *daemon) stop(down bool) {
	d.mu.Lock()
	d.down = down
	events := d.events
	d.mu.Unlock()
	for _, w := range events {
		w.Close()
	}
}

// one returns an element of a list.
func one(name, state string) string {
	return fmt.Sprintf(`{"Names": ["/%s"], "State": %q, "Status": "Up", "Labels": {"drawbridge.service": %q}, "Ports": [{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}]}`, name, state, name)
}

// started is an event as a daemon sends it.
const started = `{"status":"start","id":"8dfa","from":"shop/orders","Type":"container","Action":"start","Actor":{"ID":"8dfa","Attributes":{"image":"shop/orders","name":"orders","drawbridge.service":"orders"}},"scope":"local","time":1749043534,"timeNano":1749043534126384551}`

// An event leads to a new list within a second; without one the list is read all the same; an outage keeps the last.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{list: "[]"}
		var mu sync.Mutex
		var last string
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go New(settings(t, ""), d).Run(ctx, func(targets []discovery.Target, err error) {
			mu.Lock()
			defer mu.Unlock()
			last = services(targets, err)
		})
		await := func(wait time.Duration, want string) {
			t.Helper()
			time.Sleep(wait)
			mu.Lock()
			defer mu.Unlock()
			if last != want {
				t.Fatalf("got %q, want %q", last, want)
			}
		}
		await(time.Second, "")
		d.set("["+one("orders", "running")+"]", started)
		await(time.Second, "/orders http [127.0.0.1:8080] \"\" \"\" []\n")
		d.set("["+one("orders", "paused")+"]", started)
		await(time.Second, "/orders http [] \"\" \"\" []\n")
		d.set("[]", "")
		await(61*time.Second, "")
		d.set("[]", started) // the list follows the event
		time.Sleep(300 * time.Millisecond)
		d.set("["+one("late", "running")+"]", "")
		await(time.Second, "/late http [127.0.0.1:8080] \"\" \"\" []\n")
		time.Sleep(10 * time.Second)
		before := d.count()
		for range 100 {
			d.set("[]", started)
		}
		time.Sleep(time.Second)
		if n := d.count() - before; n < 1 || n > 3 {
			t.Errorf("%d lists after 100 events at one time", n)
		}
		d.stop(true)
		await(time.Minute, "the last\nerror: unix:///var/run/docker.sock: unexpected EOF\n")
		d.set("["+one("orders", "running")+"]", "")
		d.stop(false)
		await(5*time.Second, "/orders http [127.0.0.1:8080] \"\" \"\" []\n")
		d.set("{}", started)
		await(time.Second, "the last\nerror: unix:///var/run/docker.sock/v1.44/containers/json: byte 1: expected []docker.container, got a JSON object\n")
	})
}

// The API is asked for in the version of the daemon, but in none that is newer than those that are known.
func TestVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.51": "/v1.44", "1.44": "/v1.44", "1.41": "/v1.41",
		"2.0":    `unix:///var/run/docker.sock/_ping: expected a version such as 1.44 as Api-Version, got "2.0"; is it Docker?`,
		"1.44/x": `unix:///var/run/docker.sock/_ping: expected a version such as 1.44 as Api-Version, got "1.44/x"; is it Docker?`,
	} {
		got, err := New(settings(t, ""), &daemon{version: version}).version(t.Context())
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// Too much, too little and other things are errors.
func TestAnswers(t *testing.T) {
	for list, want := range map[string]string{
		strings.Repeat(" ", maxSize+1): "the answer has more than 16777216 bytes",
		`[{"Names": 1}]`:               "byte 12: expected []string, got a JSON number",
		`[{"Names": [`:                 "the answer is not JSON: unexpected end of JSON input",
	} {
		_, err := New(settings(t, ""), &daemon{list: list}).list(t.Context(), "/v1.44")
		if got := fmt.Sprint(err); got != "unix:///var/run/docker.sock/v1.44/containers/json: "+want {
			t.Errorf("%s", got)
		}
	}
	p := New(settings(t, ""), &daemon{})
	_, err := p.get(t.Context(), "/other", "")
	if got := fmt.Sprint(err); got != "unix:///var/run/docker.sock/other: expected status 200, got 404" {
		t.Error(got)
	}
	endless := strings.NewReader(strings.Repeat("x", maxEvent+1))
	if err := p.follow(t.Context(), endless, make(chan struct{})); err == nil || !strings.Contains(err.Error(), "token too long") {
		t.Error(err)
	}
}

// A hundred thousand containers of as many services are read.
func TestHundredThousand(t *testing.T) {
	containers := make([]container, 100_000)
	for i := range containers {
		c := &containers[i]
		c.ID, c.State, c.Labels = fmt.Sprint(i), "running", map[string]string{LabelService: fmt.Sprint("s", i)}
		c.Ports = []port{{IP: "::", PrivatePort: 80, PublicPort: 8080, Type: "tcp"}}
	}
	targets, err := New(settings(t, ""), nil).targets(containers)
	if len(targets) != len(containers) || err != nil {
		t.Errorf("%d services, %v", len(targets), err)
	}
}

// Labels that are too long or can't be shown are not those of the service, and don't keep it from being served.
func TestLabels(t *testing.T) {
	c := container{Labels: map[string]string{LabelService: "orders", "a": strings.Repeat("x", maxLabel+1), "b": "line\nline", "c": "c"}}
	for i := range 100 {
		c.Labels[fmt.Sprintf("d%03d", i)] = "x"
	}
	got := c.registration().Labels
	if len(got) != maxLabels || got[LabelService] != "orders" || got["c"] != "c" || got["a"] != "" || got["b"] != "" || got["d000"] != "x" {
		t.Errorf("%d labels: %v", len(got), got)
	}
}

// Over a network, a provider ends with its context, and leaves no connection.
func TestNetwork(t *testing.T) {
	list := make(chan string, 2)
	list <- "[" + one("orders", "running") + "]"
	list <- "[" + one("billing", "running") + "]"
	event := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/_ping":
			w.Header().Set("Api-Version", "1.41")
		case "/v1.41/events":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			for {
				select {
				case <-event:
					fmt.Fprintln(w, started)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		case "/v1.41/containers/json":
			fmt.Fprint(w, <-list)
		}
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	New(settings(t, fmt.Sprintf("host: %q", s.URL)), s.Client()).Run(ctx, func(targets []discovery.Target, err error) {
		got = append(got, services(targets, err))
		if len(got) == 2 {
			cancel()
			return
		}
		event <- struct{}{}
	})
	want := []string{"/orders http [127.0.0.1:8080] \"\" \"\" []\n", "/billing http [127.0.0.1:8080] \"\" \"\" []\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzContainers(f *testing.F) {
	f.Add([]byte("["+one("orders", "running")+"]"), "")
	f.Add([]byte(`[{"State": "running", "Labels": {"drawbridge.service": "a", "drawbridge.port": "0"}, "NetworkSettings": {"Networks": {"n": {"IPAddress": "::1"}}}}]`), "n")
	f.Fuzz(func(t *testing.T, text []byte, network string) {
		var containers []container
		if json.Unmarshal(text, &containers) != nil {
			return
		}
		p := New(&config.DockerDiscovery{Network: network}, nil)
		targets, _ := p.targets(containers)
		seen := map[[2]string]bool{}
		for i := range targets {
			key := [2]string{targets[i].Namespace, targets[i].Name}
			if targets[i].Name == "" || seen[key] {
				t.Errorf("service %q", key)
			}
			seen[key] = true
			for _, at := range targets[i].Instances {
				if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
					t.Errorf("instance %q: %v", at, err)
				}
			}
		}
	})
}
