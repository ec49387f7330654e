package discovery

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/config"
)

// fleet answers for the instances of one service, each with a document of its own.
type fleet struct {
	mu        sync.Mutex
	documents map[string]string // by address; "DOWN" and "503" are none
	requests  map[string]int    // by address
}

func (f *fleet) set(address, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.documents[address] = text
}

// asked returns how many requests came since the last look.
func (f *fleet) asked() (all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.requests {
		all += n
	}
	clear(f.requests)
	return all
}

// fleetClient sends requests to the first of some instances.
type fleetClient struct {
	*fleet
	address string
}

func (c fleetClient) Do(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[c.address]++
	text := c.documents[c.address]
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}
	tag := fmt.Sprintf("\"%x\"", sha256.Sum256([]byte(text)))
	switch {
	case text == "DOWN":
		return nil, errors.New("connection refused")
	case text == "503":
		resp.StatusCode = 503
	case text == "" || req.URL.Path != "/openapi.json":
		resp.StatusCode = 404
	case req.Header.Get("If-None-Match") == tag:
		resp.StatusCode, resp.Body = 304, http.NoBody
	default:
		resp.Header.Set("ETag", tag)
	}
	return resp, nil
}

// newFleet returns a bench whose services are those of a fleet.
func newFleet(t *testing.T) (*bench, *fleet) {
	f := &fleet{documents: map[string]string{}, requests: map[string]int{}}
	b := newBench(t, "", files)
	b.o.NewClient = newFleetClient(f)
	return b, f
}

// version is a document of a version with operations, as the instance at an address writes it.
func versionOf(version, address string, operations ...string) string {
	var paths []string
	for _, o := range operations {
		paths = append(paths, fmt.Sprintf(`"/%s": {"get": {}}`, o))
	}
	return fmt.Sprintf(`{"openapi": "3.0.3", "servers": [{"url": "http://%s/shop"}], "info": {"version": %q}, "paths": {%s}}`, address, version, strings.Join(paths, ","))
}

// silentTarget is a service whose registration doesn't name its document.
func silentTarget(instances ...string) Target {
	t := target("a", instances...)
	t.Document = ""
	return t
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A new version's document is in use as soon as one of its instances is there, and until the last is gone. Only the operations that others
// lack are called there alone.
func TestRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		v1 := []string{"10.0.0.1:80", "10.0.0.2:80"}
		for _, address := range v1 {
			f.set(address, versionOf("1.9.0", address, "orders", "old"))
		}
		b.says(silentTarget(v1...))
		service := b.Instances(config.ServiceID{Provider: "shop", Name: "a"})
		moved := service.Moved()
		if time.Sleep(time.Hour); isClosed(moved) {
			t.Error("the document has moved although all instances have the same")
		}
		// The second version comes, and its document counts within a second of the moment at which the registry shows it.
		f.set("10.0.0.3:80", versionOf("1.10.0", "10.0.0.3:80", "orders", "new"))
		came := service.Came()
		b.registry.answers <- answer{targets: []Target{silentTarget("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80")}}
		if time.Sleep(time.Second); !isClosed(moved) || !isClosed(came) {
			t.Error("the document of the new version was not noticed")
		}
		expect(t, "read at", fmt.Sprint(service.Documents()), "[10.0.0.3:80]")
		expect(t, "a new operation", fmt.Sprint(service.Having("GET /new")), "[10.0.0.3:80]")
		expect(t, "an operation that the new version lacks", fmt.Sprint(service.Having("GET /old")), "[10.0.0.2:80 10.0.0.1:80]")
		expect(t, "one of all", fmt.Sprint(service.Having("GET /orders")), "[]")
		expect(t, "all", fmt.Sprint(service.Load()), "[10.0.0.1:80 10.0.0.2:80 10.0.0.3:80]")
		want := []DocumentVersion{{"1.10.0", 1, true}, {"1.9.0", 2, false}}
		if diff := cmp.Diff(want, b.Snapshot().Services[0].Versions); diff != "" {
			t.Error(diff)
		}
		// While both are there nothing changes.
		moved = service.Moved()
		f.set("10.0.0.4:80", versionOf("1.9.0", "10.0.0.4:80", "orders", "old"))
		b.says(silentTarget("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"))
		if time.Sleep(time.Hour); isClosed(moved) {
			t.Error("the document moves back and forth")
		}
		b.says(silentTarget("10.0.0.3:80", "10.0.0.4:80"))
		expect(t, "a new operation with fewer instances", fmt.Sprint(service.Having("GET /new")), "[10.0.0.3:80]")
		b.says(silentTarget("10.0.0.3:80"))
		if isClosed(moved) || b.Snapshot().Services[0].Versions != nil || service.Having("GET /new") != nil {
			t.Error("the end of the rollout is not noticed: ", b.Snapshot().Services[0].Versions)
		}
		// A rollback is noticed when the newer version is gone.
		f.set("10.0.0.5:80", versionOf("1.9.0", "10.0.0.5:80", "orders", "old"))
		b.says(silentTarget("10.0.0.3:80", "10.0.0.5:80"))
		if isClosed(moved) {
			t.Error("the older version counts beside the newer")
		}
		if b.says(silentTarget("10.0.0.5:80")); !isClosed(moved) {
			t.Error("the rollback is not noticed")
		}
	})
}

// A gateway that starts in the middle of a rollout compares the documents of all instances, and takes the newest from then on.
func TestStartInRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		all := []string{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"}
		for i, address := range all {
			f.set(address, versionOf([]string{"1.0", "1.1", "1.0"}[i], address, "orders"))
		}
		b.says(silentTarget(all...))
		service := b.Instances(config.ServiceID{Provider: "shop", Name: "a"})
		expect(t, "read at", fmt.Sprint(service.Documents()), "[10.0.0.2:80]")
		if moved := service.Moved(); b.rests() == "" || isClosed(moved) {
			t.Error("the document moves")
		}
		if n := len(b.Snapshot().Services[0].Versions); n != 2 {
			t.Errorf("%d versions", n)
		}
		b.says(silentTarget("10.0.0.3:80"))
		if !service.Own("10.0.0.2:9999") || !service.Own("10.0.0.3") || service.Own("10.9.9.9:80") {
			t.Error("the instances are not known by their hosts")
		}
	})
}

// One instance that takes the place of another, or is started anew at its address, is noticed too.
func TestReplacedInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		f.set("10.0.0.1:80", versionOf("1", "10.0.0.1:80", "orders"))
		b.says(silentTarget("10.0.0.1:80"))
		if n := f.asked(); n > 12 {
			t.Errorf("%d requests for one instance", n)
		}
		service := b.Instances(config.ServiceID{Provider: "shop", Name: "a"})
		for i, next := range []Target{silentTarget("10.0.0.2:80"), silentTarget("10.0.0.2:80"), silentTarget("10.0.0.2:80")} {
			moved := service.Moved()
			f.set("10.0.0.2:80", versionOf(fmt.Sprint(i+2), "10.0.0.2:80", "orders"))
			if next.Revisions = []string{fmt.Sprint("started ", i)}; i == 2 {
				next.Revisions, next.Labels = []string{"started 1"}, map[string]string{"version": "4"}
			}
			if b.says(next); !isClosed(moved) {
				t.Errorf("the document of version %d is not noticed", i+2)
			}
			time.Sleep(time.Minute)
		}
	})
}

// Documents without versions, or with one that says nothing: the newest instance's counts.
func TestVersionsWithoutOrder(t *testing.T) {
	for _, versions := range [][2]string{{"", ""}, {"1.0", "1.0"}, {"latest", "1.0"}, {"2024-01-01", "main"}} {
		var r rollout
		r.follow([]string{"a"}, false)
		r.read("a", describe([]byte(versionOf(versions[0], "a", "x")), "a"), nil, time.Now())
		r.follow([]string{"a", "b"}, false)
		r.read("b", describe([]byte(versionOf(versions[1], "b", "y")), "b"), nil, time.Now())
		if documents, _ := r.routes(); len(documents) != 1 || documents[0] != "b" {
			t.Errorf("%v: the document is read at %v", versions, documents)
		}
	}
}

// An instance that is not ready yet is asked again, one that never is costs a request a minute, and a registry that has services come and go
// each second makes no storm of requests.
func TestPaceOfRollouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		f.set("10.0.0.1:80", versionOf("1", "10.0.0.1:80", "orders"))
		f.set("10.0.0.2:80", "503")
		f.set("10.0.0.3:80", "DOWN")
		b.says(silentTarget("10.0.0.1:80"))
		moved := b.Instances(config.ServiceID{Provider: "shop", Name: "a"}).Moved()
		b.says(silentTarget("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"))
		f.set("10.0.0.2:80", versionOf("2", "10.0.0.2:80", "orders", "new"))
		if time.Sleep(5 * time.Second); !isClosed(moved) {
			t.Error("an instance that became ready was not asked again")
		}
		f.asked()
		time.Sleep(time.Hour)
		if n := f.asked(); n == 0 || n > 150 {
			t.Errorf("%d requests in an hour to an instance that is down", n)
		}
		for i := range 600 {
			b.registry.answers <- answer{targets: []Target{silentTarget(fmt.Sprintf("10.0.1.%d:80", i%2))}}
			time.Sleep(time.Second)
		}
		if n := f.asked(); n > 70*11 { // 70 times, each a document and a lookup for its place
			t.Errorf("%d requests in 600 changes of the registry", n)
		}
	})
}

// A service without a document is looked at again when an instance comes, its registration changes, or an operator reloads; and no more often
// than its pace allows.
func TestWoken(t *testing.T) {
	for name, wake := range map[string]func(b *bench){
		"an instance": func(b *bench) { b.says(silentTarget("10.0.0.1:80", "10.0.0.2:80")) },
		"another one": func(b *bench) { b.says(silentTarget("10.0.0.2:80")) },
		"a reload":    func(b *bench) { b.RetryLookups() },
		"a new start": func(b *bench) { again := silentTarget("10.0.0.1:80"); again.Revisions = []string{"2"}; b.says(again) },
		"its metadata": func(b *bench) {
			again := silentTarget("10.0.0.1:80")
			again.Labels = map[string]string{"x": "y"}
			b.says(again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, f := newFleet(t)
				defer b.end()
				missing := "missing shop-a: a: no OpenAPI document was found; name it in the registration, or add its path to documents.paths\n"
				expect(t, "at first", b.says(silentTarget("10.0.0.1:80")), missing)
				f.set("10.0.0.1:80", document)
				f.set("10.0.0.2:80", document)
				expect(t, "without a reason", b.rests(), missing)
				wake(b)
				if got := b.rests(); !strings.HasPrefix(got, "API shop-a ") {
					t.Errorf("it is not looked for again: %s", got)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		b.says(silentTarget("10.0.0.1:80"))
		one := f.asked()
		for i := range 600 {
			b.RetryLookups()
			b.registry.answers <- answer{targets: []Target{silentTarget(fmt.Sprintf("10.0.1.%d:80", i%2))}}
			time.Sleep(time.Second)
		}
		if n := f.asked(); n > 70*one {
			t.Errorf("%d requests, %d searches, in ten minutes of changes", n, n/one)
		}
		f.set("10.0.1.1:80", document)
		time.Sleep(time.Minute)
		if got := b.rests(); !strings.HasPrefix(got, "API shop-a ") {
			t.Errorf("the last change is not followed: %s", got)
		}
	})
}

// A document that is at another place in a new version is found there once no instance has it at the old one; what is served stays until then.
func TestDocumentAtAnotherPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		f.set("10.0.0.1:80", document)
		b.says(silentTarget("10.0.0.1:80"))
		f.set("10.0.0.2:80", "")
		if got := b.says(silentTarget("10.0.0.2:80")); !strings.HasPrefix(got, "API shop-a ") {
			t.Errorf("a document that is gone takes its service away: %s", got)
		}
	})
}

// A registry behind whose address the instances change has the document read by its source, several times.
func TestSharedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := newFleet(t)
		defer b.end()
		shared := func(pods ...string) Target {
			one := silentTarget("orders.shop.svc:80")
			one.Shared, one.Revisions = true, pods
			return one
		}
		f.set("orders.shop.svc:80", versionOf("1", "orders.shop.svc:80", "orders"))
		b.says(shared("10.0.0.1"))
		f.asked()
		service := b.Instances(config.ServiceID{Provider: "shop", Name: "a"})
		moved := service.Moved()
		b.says(shared("10.0.0.1", "10.0.0.2"))
		times := 0
		for range 120 {
			if isClosed(moved) {
				times++
				moved = service.Moved()
			}
			time.Sleep(time.Second)
		}
		if times != 1+len(repeats) || f.asked() != 0 {
			t.Errorf("the document was to be read %d times", times)
		}
	})
}

// Hostile documents cost what their bytes cost, and no more is kept of them than is needed.
func TestHostileDocuments(t *testing.T) {
	var r rollout
	var addresses []string
	for i := range 100 {
		addresses = append(addresses, fmt.Sprint("10.0.0.", i))
	}
	r.follow(addresses, false)
	for i, address := range addresses {
		var operations []string
		for j := range 2000 {
			operations = append(operations, fmt.Sprint("o", i, "-", j))
		}
		r.read(address, describe([]byte(versionOf(fmt.Sprint(i), address, operations...)), address), nil, time.Now())
	}
	if kept := r.share(1 << 30); kept != maxDistinct*2000 {
		t.Errorf("%d operations are kept", kept)
	}
	if n := len(r.versions()); n != maxVersions {
		t.Errorf("%d versions are shown", n)
	}
	if _, only := r.routes(); len(only) > maxDistinct*2000 {
		t.Errorf("%d operations are routed", len(only))
	}
	if kept := r.share(3000); kept != 2000 {
		t.Errorf("%d operations are kept although 3000 are allowed", kept)
	}
	for _, text := range []string{"", "{", `{"info": 5, "paths": []}`, `{"info": {"version": {"a": 1}}, "paths": {"/x": 5}}`, "\xEF\xBB\xBF{}", "openapi: 3.0.3\ninfo: {version: 1.2}\npaths: {/x: {get: {}}}\n",
		strings.Repeat("[", 100_000), `{"a":` + strings.Repeat("[", 1_000_000), "a: &a [*a]"} {
		describe([]byte(text), "x")
	}
	if d := describe([]byte("openapi: 3.0.3\ninfo: {version: 1.2}\npaths: {/x: {get: {}}}\n"), "x"); d.version != "1.2" || !d.has(hashOperation("GET /x")) || d.has(hashOperation("PUT /x")) {
		t.Errorf("%+v", d)
	}
	a, b := describe([]byte(versionOf("1", "10.0.0.1:80", "x")), "10.0.0.1:80"), describe([]byte(versionOf("1", "10.0.0.2:80", "x")), "10.0.0.2:80")
	if !bytes.Equal(a.digest[:], b.digest[:]) {
		t.Error("documents that differ in the address of their instance are different")
	}
}

// A large document is compared without being held.
func TestLargeDocument(t *testing.T) {
	large := func(address, end string) *instanceDocument {
		d, err := describeBody(strings.NewReader(versionOf("1", address, "x")+strings.Repeat(" ", maxHeld)+end), address)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b, c := large("10.0.0.1:80", "x"), large("10.0.0.2:80", "x"), large("10.0.0.2:80", "y")
	if a.digest != b.digest || b.digest == c.digest || a.operations != nil {
		t.Error("large documents are not compared by their bytes")
	}
	if d, err := describeBody(strings.NewReader("<html>"), "x"); !errors.Is(err, errNoDocument) {
		t.Errorf("%+v %v", d, err)
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add([]byte(versionOf("1", "10.0.0.1:80", "x")))
	f.Add([]byte("openapi: 3.0.3\ninfo: {version: 1}\n"))
	f.Fuzz(func(_ *testing.T, text []byte) { describe(text, "10.0.0.1:80") })
}

// newFleetClient returns the option that makes clients of a fleet.
func newFleetClient(f *fleet) func(api *config.API, instances []string) (Client, error) {
	return func(_ *config.API, instances []string) (Client, error) { return fleetClient{f, instances[0]}, nil }
}
