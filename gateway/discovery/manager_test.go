package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/config"
)

// registry is a provider that says what a test has it say.
type registry struct{ answers chan answer }

type answer struct {
	targets []Target
	err     error
}

func (r *registry) Run(ctx context.Context, update func([]Target, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-r.answers:
			update(a.targets, a.err)
		}
	}
}

// services answers for all services: their documents, by host and path.
type services struct {
	texts sync.Map
	asked func(instances []string) // called for each request; nil in most tests
}

// probe is the client for one service.
type probe struct {
	*services
	instances []string
}

func (p probe) Do(req *http.Request) (*http.Response, error) {
	if p.asked != nil {
		p.asked(p.instances)
	}
	return p.services.Do(req)
}

func (s *services) set(at, text string) { s.texts.Store(at, text) }

func (s *services) Do(req *http.Request) (*http.Response, error) {
	value, ok := s.texts.Load(req.URL.Host + req.URL.Path)
	text, _ := value.(string)
	if text == "DOWN" {
		return nil, errors.New("connection refused")
	}
	if text == "HANG" {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if text == "PANIC" {
		panic(errTest)
	}
	status, header := 200, http.Header{}
	switch {
	case !ok:
		status = 404
	case text == "PROTECTED":
		status = 401
	case strings.HasPrefix(text, "<"):
		header.Set("Link", text)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

const document = `{"openapi": "3.0.3"}`

// bench is a manager with one registry, for tests in a synctest bubble.
type bench struct {
	*Manager
	registry *registry
	services *services
	end      func()
}

func newBench(t *testing.T, stateFile, providers string) *bench {
	t.Helper()
	b := &bench{registry: &registry{make(chan answer)}, services: &services{}}
	b.Manager = New(Options{
		Logger:      slog.New(slog.DiscardHandler),
		NewProvider: func(*config.Discovery) (Provider, error) { return b.registry, nil },
		NewClient:   func(_ *config.API, instances []string) (Client, error) { return probe{b.services, instances}, nil },
		StateFile:   stateFile,
		Keep:        func(_ context.Context, _ string, f func()) { f() },
		Step:        survive,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	b.end = func() { cancel(); <-done }
	b.Use(configuration(t, providers))
	return b
}

// survive runs a step and recovers from the panic that a test asks for.
func survive(_ string, step func()) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			if panicked = v == any(errTest); !panicked {
				panic(v)
			}
		}
	}()
	step()
	return false
}

var errTest = errors.New("a panic that a test asks for")

func configuration(t *testing.T, providers string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("apis: [{name: shop-taken, spec: https://a.example/o.json}]\ndiscovery:\n"+providers), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

// says has the registry answer, and waits until all is at rest.
func (b *bench) says(targets ...Target) string {
	b.registry.answers <- answer{targets: append([]Target{}, targets...)}
	return b.rests()
}

// rests waits until changes are published, and describes what is known.
func (b *bench) rests() string {
	time.Sleep(2 * longest)
	synctest.Wait()
	var text strings.Builder
	s := b.Snapshot()
	for i := range s.APIs {
		api := &s.APIs[i]
		fmt.Fprintf(&text, "API %s %s %s %v\n", api.Name, api.BaseURL, api.Spec, b.Instances(api.Service()).Load())
	}
	for _, one := range s.Services {
		if one.State != Served {
			fmt.Fprintf(&text, "%s %s: %s: %s%s\n", one.State, one.API, one.Name, one.Reason, strings.TrimSuffix("; "+one.Next, "; "))
		}
	}
	for _, p := range s.Providers {
		if p.Error != "" {
			fmt.Fprintf(&text, "%s: %s\n", p.Name, p.Error)
		}
	}
	return text.String()
}

func target(name string, instances ...string) Target {
	if len(instances) == 0 {
		instances = []string{"10.0.0.1:80"}
	}
	return Target{Service: config.Service{Name: name}, Scheme: "http", Instances: instances, Document: "/o.json"}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

const files = "  - {name: shop, file: {paths: [x.json]}}\n"

// served is the line of a service whose document is /o.json.
func served(name string, instances ...string) string {
	if len(instances) == 0 {
		instances = []string{"10.0.0.1:80"}
	}
	host := "http://shop-" + strings.ToLower(name) + ".discovered.invalid"
	return fmt.Sprintf("API shop-%s %s %s/o.json %v\n", name, host, host, instances)
}

func TestServicesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		expect(t, "one", b.says(target("a")), served("a"))
		expect(t, "another", b.says(target("b", "10.0.0.3:1"), target("a")), served("a")+served("b", "10.0.0.3:1"))
		select {
		case <-b.Changed():
		default:
			t.Error("no change was reported")
		}
		expect(t, "moved", b.says(target("a", "10.0.0.9:80", "10.0.0.8:80"), target("b", "10.0.0.3:1")), served("a", "10.0.0.8:80", "10.0.0.9:80")+served("b", "10.0.0.3:1"))
		select {
		case <-b.Changed():
			t.Error("a service that moves is no change of the configuration")
		default:
		}
		expect(t, "gone", b.says(target("b", "10.0.0.3:1")), served("b", "10.0.0.3:1"))
		b.registry.answers <- answer{err: errors.New("down")}
		expect(t, "outage", b.rests(), served("b", "10.0.0.3:1")+"shop: down\n")
		expect(t, "back", b.says(target("b", "10.0.0.3:1")), served("b", "10.0.0.3:1"))
		expect(t, "empty", b.says(), "")
	})
}

// Many services that vanish at once are served on until they are back or an operator accepts the loss.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		b.says(target("a"), target("b"), target("c"), target("d"))
		lost := "lost shop-%s: %[1]s: the registry lost many services at once; POST /discovery/shop/accept\n"
		all := served("a") + served("b") + served("c") + served("d")
		three := fmt.Sprintf(lost, "b") + fmt.Sprintf(lost, "c") + fmt.Sprintf(lost, "d")
		expect(t, "three of four", b.says(target("a")), all+three)
		expect(t, "back", b.says(target("a"), target("b"), target("c"), target("d")), all)
		expect(t, "two of four", b.says(target("a"), target("b")), served("a")+served("b"))
		b.says(target("a"), target("b"), target("c"), target("d"))
		b.says(target("a"))
		if err := b.AcceptLoss(t.Context(), "shop"); err != nil {
			t.Error(err)
		}
		expect(t, "accepted", b.rests(), served("a"))
		if err := b.AcceptLoss(t.Context(), "shop"); err == nil {
			t.Error("a loss that is none was accepted")
		}
	})
}

// A service is held until an operator accepts it, and stays accepted after a restart during which its registry is down.
func TestApprovals(t *testing.T) {
	state := filepath.Join(t.TempDir(), "discovery.json")
	synctest.Test(t, func(t *testing.T) {
		held := "held shop-%s: %[1]s: it is new; POST /apis/shop-%[1]s/accept\n"
		b := newBench(t, state, "  - {name: shop, http: {url: 'http://127.0.0.1:1/x'}}\n")
		expect(t, "new", b.says(target("a"), target("b")), fmt.Sprintf(held, "a")+fmt.Sprintf(held, "b"))
		if err := b.Accept(t.Context(), "shop-a"); err != nil {
			t.Error(err)
		}
		if err := b.Accept(t.Context(), "shop-z"); err == nil {
			t.Error("an unknown service was accepted")
		}
		expect(t, "accepted", b.rests(), served("a")+fmt.Sprintf(held, "b"))
		b.end()

		b = newBench(t, state, "  - {name: shop, http: {url: 'http://127.0.0.1:1/x'}}\n")
		defer b.end()
		expect(t, "after a restart", b.rests(), served("a")+fmt.Sprintf(held, "b"))
		expect(t, "the registry answers", b.says(target("a")), served("a"))
	})
}

// A registration chooses its names: none replaces another API, and of two with one name none has it.
func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		xy := served("x-y")
		taken := "held shop-taken: taken: a configured API has the name shop-taken; set an api_name of the provider that tells them apart\n"
		expect(t, "a configured name", b.says(target("taken"), target("x.y"), target("z")), xy+served("z")+taken)
		expect(t, "a name that two claim", b.names(target("x-y", "10.6.6.6:80"), target("x.y")), "x-y shop-x-y-9ae11816d66cc1b4, x.y shop-x-y-6d2d08c9a8c056a9")
		expect(t, "the first is gone", b.says(target("x-y", "10.6.6.6:80")), served("x-y", "10.6.6.6:80"))
		long := strings.Repeat("long", 12)
		got := b.says(target(long+"1"), target(long+"2"))
		if strings.Count(got, "API shop-longlong") != 2 {
			t.Errorf("long names: %s", got)
		}
	})
}

// What can't be used is refused with its reason, and costs no other service its place.
func TestHostileRegistrations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, allow_servers: ['http://10.0.0.1', 'http://other:8080'], max_services: 8}\n")
		defer b.end()
		change := func(name string, f func(*Target)) Target {
			g := target(name)
			f(&g)
			return g
		}
		all := []Target{
			target("a"), target("b", "other:8080"), target("c", "169.254.169.254:80"), target("d\x1b[31m"),
			change("e", func(g *Target) { g.Scheme = "file" }), change("f", func(g *Target) { g.BasePath = "/x/../../etc" }),
			change("g", func(g *Target) { g.Instances = []string{"10.0.0.1:80@evil"} }), change("h", func(g *Target) { g.Document = "gopher://x" }),
			target("i"), target("j"),
		}
		expect(t, "hostile", b.says(all...), served("a")+served("b", "other:8080")+
			"refused shop-c: c: the server http://169.254.169.254 is not one of allow_servers\n"+
			"refused shop-d--31m: d\uFFFD[31m: the name of the service has characters that can't be printed\n"+
			"refused shop-e: e: expected http or https as the scheme, got \"file\"\n"+
			"refused shop-f: f: the base path of the service: expected a path that begins with /, without query and dot segments, got \"/x/../../etc\"\n"+
			"refused shop-g: g: expected host:port as the address of an instance, got \"10.0.0.1:80@evil\"\n"+
			"refused shop-h: h: expected the URL of a document, or a path that begins with /, got \"gopher://x\"\n"+
			"shop: the registry has 2 services more than max_services, 8; they are refused\n")
	})
}

// A document is looked for by what the service says of itself, then at the usual places, and not again for an hour.
func TestLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		silent := func(name string) Target {
			g := target(name)
			g.Document, g.BasePath = "", "/v1"
			return g
		}
		b.services.set("shop-a.discovered.invalid/.well-known/api-catalog", `{"linkset": [{"anchor": "/v2", "service-desc": [{"href": "/two.json"}]},
			{"anchor": "http://10.0.0.1:80/v1", "service-desc": [{"href": "http://10.0.0.1:80/one.json"}]}]}`)
		b.services.set("shop-a.discovered.invalid/one.json", document)
		b.services.set("shop-a.discovered.invalid/two.json", document)
		b.services.set("shop-b.discovered.invalid/v1", `<http://elsewhere.example/x>; rel="next", <spec.yaml>; title="a, b"; rel="x service-desc"`)
		b.services.set("shop-b.discovered.invalid/spec.yaml", "openapi: 3.1.0\n")
		b.services.set("shop-c.discovered.invalid/v1/openapi.json", document)
		b.services.set("shop-d.discovered.invalid/swagger.json", "<html>")
		b.services.set("shop-e.discovered.invalid/.well-known/api-catalog", "DOWN")
		for _, path := range []string{"/v1/v3/api-docs", "/v3/api-docs"} {
			b.services.set("shop-f.discovered.invalid"+path, "PROTECTED")
		}
		found := func(name, at string) string {
			return fmt.Sprintf("API shop-%s http://shop-%[1]s.discovered.invalid/v1 http://shop-%[1]s.discovered.invalid%s [10.0.0.1:80]\n", name, at)
		}
		here := found("a", "/one.json") + found("b", "/spec.yaml") + found("c", "/v1/openapi.json")
		none := "missing shop-d: d: no OpenAPI document was found; name it in the registration, or add its path to documents.paths\n"
		const protected = "missing shop-f: f: no OpenAPI document was found; the service answered 401 at /v1/v3/api-docs, " +
			"401 at /v3/api-docs; give the service a spec_credential in credentials of its provider, or let it serve its document without authentication\n"
		expect(t, "found", b.says(silent("a"), silent("b"), silent("c"), silent("d"), silent("e"), silent("f")),
			here+none+"missing shop-e: e: the service did not respond: connection refused\n"+protected)
		b.services.set("shop-d.discovered.invalid/openapi.json", document)
		b.services.texts.Delete("shop-e.discovered.invalid/.well-known/api-catalog")
		b.services.set("shop-e.discovered.invalid/v1/v3/api-docs", document)
		time.Sleep(10 * time.Second)
		expect(t, "the one that did not respond", b.rests(), here+found("e", "/v1/v3/api-docs")+none+protected)
		time.Sleep(lookupAgain)
		expect(t, "after an hour", b.rests(), here+found("d", "/openapi.json")+found("e", "/v1/v3/api-docs")+protected)
	})
}

// An alias names the API and nothing else: a service can't have another's credential by it.
func TestAlias(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		one := target("a")
		one.Alias = "b"
		expect(t, "alias", b.says(one), served("b"))
		if d := configuration(t, "  - {name: shop, file: {paths: [x.json]}, services: {name: b}}\n").Discovery[0]; d.Accepts(&one.Service) {
			t.Error("a selector matches the alias")
		}
		one.Problem = "no endpoint is ready"
		expect(t, "problem", b.says(one), "refused shop-b: a: no endpoint is ready\n")
	})
}

// A panic while a document is looked for costs that lookup alone.
func TestLookupThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		b.services.set("shop-a.discovered.invalid/.well-known/api-catalog", "PANIC")
		a := target("a")
		a.Document = ""
		expect(t, "panicked", b.says(a, target("b")), served("b")+"missing shop-a: a: "+errLookupPanicked.Error()+"\n")
		b.services.texts.Delete("shop-a.discovered.invalid/.well-known/api-catalog")
		b.services.set("shop-a.discovered.invalid/openapi.json", document)
		time.Sleep(time.Minute)
		expect(t, "again", b.rests(), strings.Replace(served("a"), "/o.json", "/openapi.json", 1)+served("b"))
	})
}

// A service whose API name is another one's is looked at where it is, and never gets the calls of the other.
func TestNameOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		expect(t, "the first", b.says(target("x.y")), served("x-y"))
		requests := 0
		b.services.asked = func(instances []string) {
			requests++
			if diff := cmp.Diff([]string{"10.6.6.6:80"}, instances); diff != "" {
				t.Errorf("searched at %s", diff)
			}
			if diff := cmp.Diff([]string{"10.0.0.1:80"}, b.Instances(config.ServiceID{Provider: "shop", Name: "x.y"}).Load()); diff != "" {
				t.Errorf("calls go to %s", diff)
			}
		}
		second := target("x-y", "10.6.6.6:80")
		second.Document = ""
		b.says(target("x.y"), second)
		if requests == 0 {
			t.Error("no document was looked for")
		}
	})
}
