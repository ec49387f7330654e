package kubernetes

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serviceNamed is a Service with the port 80, as the API server has it.
func serviceNamed(name string, annotations map[string]any) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": name, "namespace": "shop", "labels": map[string]any{"app": name, "mcp": "enabled"}, "annotations": annotations},
		"spec":     map[string]any{"type": "ClusterIP", "clusterIP": "10.96.0.7", "ports": []any{map[string]any{"name": "http", "protocol": "TCP", "port": 80, "targetPort": "web"}}},
	}
}

// sliceOf is the EndpointSlice of a Service, with one endpoint.
func sliceOf(name string, ready bool) map[string]any {
	return map[string]any{
		"metadata":    map[string]any{"name": name + "-x7k2p", "namespace": "shop", "labels": map[string]any{labelServiceName: name}},
		"addressType": "IPv4",
		"endpoints":   []any{map[string]any{"addresses": []any{"10.1.0.4"}, "conditions": map[string]any{"ready": ready, "serving": ready, "terminating": false}}},
		"ports":       []any{map[string]any{"name": "http", "protocol": "TCP", "port": 8080}},
	}
}

// follower is a provider whose reports are kept, in a synctest bubble.
type follower struct {
	t      *testing.T
	server *fakeServer
	token  string // the file of the token
	end    func()

	mu      sync.Mutex
	last    string // the last report
	reports int
}

func follow(t *testing.T, server *fakeServer, d *config.KubernetesDiscovery) *follower {
	t.Helper()
	f := &follower{t: t, server: server, token: filepath.Join(t.TempDir(), "token")}
	f.writeToken("t0")
	p := New(d, &Cluster{Server: &url.URL{Scheme: "https", Host: "kubernetes.default.svc"}, tokenFile: f.token}, server)
	for _, w := range p.watchers {
		w.jitter = func() float64 { return 0.5 }
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx, func(targets []discovery.Target, err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.last, f.reports = describe(targets, err), f.reports+1
		})
	}()
	f.end = func() { cancel(); <-done }
	return f
}

// endWatches ends all watches, after the time in which an end is a failure.
func (f *follower) endWatches() {
	time.Sleep(2 * shortWatch)
	synctest.Wait()
	f.server.endWatches()
}

func (f *follower) writeToken(token string) {
	f.t.Helper()
	if err := os.WriteFile(f.token, []byte(token+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// describe prints a report.
func describe(targets []discovery.Target, err error) string {
	var b strings.Builder
	for i := range targets {
		t := &targets[i]
		fmt.Fprintf(&b, "%s/%s %s %s", t.Namespace, t.Name, t.Scheme, t.Instances)
		for _, one := range []struct{ what, text string }{{"alias", t.Alias}, {"path", t.BasePath}, {"context", t.ContextPath}, {"document", t.Document}, {"tags", strings.Join(t.Tags, " ")}, {"problem", t.Problem}} {
			if one.text != "" {
				fmt.Fprintf(&b, " %s=%q", one.what, one.text)
			}
		}
		b.WriteByte('\n')
	}
	if targets == nil {
		b.WriteString("nothing\n")
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %s\n", err)
	}
	return b.String()
}

// expect waits until nothing moves, and compares the last report.
func (f *follower) expect(what, want string) {
	f.t.Helper()
	time.Sleep(2 * settle)
	synctest.Wait()
	if diff := cmp.Diff(want, f.report()); diff != "" {
		f.t.Errorf("%s: %s", what, diff)
	}
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports
}

// report returns the last report.
func (f *follower) report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

const (
	orders  = "shop/orders http [orders.shop.svc:80]\n"
	billing = "shop/billing http [billing.shop.svc:80]\n"
)

var shop = &config.KubernetesDiscovery{Namespaces: []string{"shop"}, Address: config.AddressService}

// Services come, change, become ready and go, within the time that a burst takes.
func TestServicesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		f := follow(t, s, shop)
		defer f.end()
		f.expect("not ready", "shop/orders http [] problem=\"no endpoint of the Service is ready\"\n")
		s.put("endpointslices", sliceOf("orders", true))
		f.expect("ready", orders)
		s.put("endpointslices", sliceOf("orders", false))
		f.expect("no longer ready", "shop/orders http [] problem=\"no endpoint of the Service is ready\"\n")
		s.put("endpointslices", sliceOf("orders", true))
		before := f.count()
		s.put("endpointslices", sliceOf("billing", true))
		s.put("services", serviceNamed("billing", nil))
		f.expect("another", billing+orders)
		if n := f.count() - before; n != 1 {
			t.Errorf("a burst was reported %d times", n)
		}
		s.put("services", serviceNamed("orders", map[string]any{"drawbridge/path": "/v2", "drawbridge/openapi": "/o.json", "drawbridge/tags": "core, eu", "drawbridge/name": "o2"}))
		f.expect("annotated", billing+"shop/orders http [orders.shop.svc:80] alias=\"o2\" path=\"/v2\" document=\"/o.json\" tags=\"core eu\"\n")
		s.remove("services", "shop/orders")
		f.expect("gone", billing)
		if s.asked("list services") != 1 || s.asked("watch services") != 1 {
			t.Error(s.counts())
		}
	})
}

// A watch that ends goes on from its last version, which a bookmark tells; the list is read anew only if that is gone.
func TestResumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		f := follow(t, s, shop)
		defer f.end()
		f.expect("first", orders)
		s.bookmark()
		synctest.Wait()
		f.endWatches()
		f.expect("ended", orders)
		if s.asked("list services") != 1 || !strings.HasSuffix(s.counts(), " 103]") {
			t.Error(s.counts())
		}
		s.mu.Lock()
		s.objects["services"]["shop/billing"] = serviceNamed("billing", nil) // without an event: it is compacted
		s.objects["endpointslices"]["shop/billing-x7k2p"] = sliceOf("billing", true)
		s.version, s.oldest, s.history = 200, 200, nil
		s.mu.Unlock()
		f.endWatches()
		f.expect("gone", billing+orders)
		if s.asked("list services") != 2 {
			t.Error(s.counts())
		}
		s.event("services", "ERROR", map[string]any{"kind": "Status", "code": 500, "message": "etcdserver: leader changed"})
		f.expect("an error", billing+orders+"error: services of namespace shop: status 500: \"etcdserver: leader changed\"\n")
		time.Sleep(3 * firstRetry)
		f.expect("over", billing+orders)
	})
}

// A list is read in pages. If its version is gone between two, it is read from the beginning.
func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.most = 3
		var want strings.Builder
		for i := range 10 {
			name := fmt.Sprintf("s%d", i)
			s.put("services", serviceNamed(name, nil))
			s.put("endpointslices", sliceOf(name, true))
			fmt.Fprintf(&want, "shop/%s http [%s.shop.svc:80]\n", name, name)
		}
		s.put("services", map[string]any{"metadata": map[string]any{"name": "other", "namespace": "other"}})
		f := follow(t, s, shop)
		defer f.end()
		f.expect("all", want.String())
		if s.asked("page services") != 3 {
			t.Error(s.counts())
		}
		s.do(func() { s.expire = 1 })
		f.endWatches()
		time.Sleep(3 * firstRetry)
		f.expect("again", want.String())
		if s.asked("list services") != 3 {
			t.Error(s.counts())
		}
	})
}

// A token that is replaced is read anew.
func TestTokenRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		f := follow(t, s, shop)
		defer f.end()
		f.expect("first", orders)
		s.mu.Lock()
		s.token = "t1"
		s.mu.Unlock()
		f.endWatches()
		f.expect("refused", orders+`error: services of namespace shop: status 401: "Unauthorized"
endpointslices of namespace shop: status 401: "Unauthorized"
`)
		f.writeToken("t1")
		time.Sleep(2 * firstRetry)
		f.expect("accepted", orders)
		if s.asked("list services") != 1 {
			t.Error(s.counts())
		}
	})
}

// An outage keeps what is known, is asked about less and less often, and is over with the next response.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.down = true
		f := follow(t, s, shop)
		defer f.end()
		const unavailable = `error: services of namespace shop: status 503: "the server is currently unable to handle the request"
endpointslices of namespace shop: status 503: "the server is currently unable to handle the request"
`
		f.expect("down from the start", "nothing\n"+unavailable)
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		s.do(func() { s.down = false })
		time.Sleep(2 * firstRetry)
		f.expect("up", orders)
		s.do(func() { s.down = true })
		f.endWatches()
		f.expect("down", orders+unavailable)
		before := s.asked("watch services")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if asked := s.asked("watch services") - before; asked < 9 || asked > 16 {
			t.Errorf("%d requests in 5 minutes", asked)
		}
		s.do(func() { s.down = false })
		time.Sleep(2 * lastRetry)
		f.expect("up again", orders)
	})
}

// However long there is no connection, 5 seconds after it is back the gateway is, even if the API server responds with an error at first.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		f := follow(t, s, shop)
		defer f.end()
		f.expect("up", orders)
		for _, starts := range []bool{false, true} {
			s.do(func() { s.refuses = true })
			f.endWatches()
			time.Sleep(time.Hour)
			s.do(func() { s.refuses, s.down = false, starts })
			if starts {
				time.Sleep(3 * time.Second)
				s.do(func() { s.down = false })
			}
			s.do(func() {})
			time.Sleep(5 * time.Second)
			f.expect("up again", orders)
		}
	})
}

// A watch that is cut at once, again and again, is a failure that is reported, and not asked for in a loop.
func TestShortWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.stuck = true
		f := follow(t, s, shop)
		defer f.end()
		time.Sleep(time.Minute)
		synctest.Wait()
		if asked := s.asked("watch services"); asked > 10 || !strings.Contains(f.report(), "the watch ended at once") {
			t.Errorf("%d watches, %s", asked, f.report())
		}
	})
}

// A namespace that may not be read costs no other its services.
func TestForbiddenNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.forbidden = "billing"
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		f := follow(t, s, &config.KubernetesDiscovery{Namespaces: []string{"billing", "shop"}, Selector: "mcp=enabled"})
		defer f.end()
		const who = `is forbidden: User \"system:serviceaccount:mcp:drawbridge\" cannot list resource`
		f.expect("forbidden", orders+`error: services of namespace billing: status 403: "services `+who+` \"services\" in API group \"\" in the namespace \"billing\""
endpointslices of namespace billing: status 403: "endpointslices `+who+` \"endpointslices\" in API group \"\" in the namespace \"billing\""
`)
	})
}

// Objects that can't be read are left out and reported; the others are served.
func TestHostileObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		s.put("endpointslices", sliceOf("orders", true))
		s.put("services", serviceNamed("a\x1b[31m\n", nil))
		s.put("services", serviceNamed("evil.example.com#", nil))
		wrong := serviceNamed("wrong", nil)
		wrong["spec"].(map[string]any)["ports"] = "80"
		s.put("services", wrong)
		f := follow(t, s, shop)
		defer f.end()
		const found = orders + `error: services of namespace shop: "shop/a\x1b[31m\n" is left out: expected DNS names as its name and namespace
services of namespace shop: "shop/evil.example.com#" is left out: expected DNS names as its name and namespace
services of namespace shop: "shop/wrong" is left out: expected a list as spec.ports, got a JSON string
`
		f.expect("in a list", found)
		worse := serviceNamed("orders", nil)
		metadataOf(worse)["labels"] = 7
		s.put("services", worse)
		f.expect("in a watch", strings.TrimPrefix(strings.Replace(found, "services of namespace shop: \"shop/wrong",
			"services of namespace shop: \"shop/orders\" is left out: expected an object as metadata.labels, got a JSON number\nservices of namespace shop: \"shop/wrong", 1), orders))
		s.put("services", serviceNamed("orders", nil))
		f.expect("repaired", found)
		s.event("services", "SURPRISE", map[string]any{})
		f.expect("an unknown event", strings.Replace(found, "error: ", "error: services of namespace shop: expected an event of a watch, got the type \"SURPRISE\"\n", 1))
	})
}

// A panic while an object is read is one of Run: whoever runs the provider recovers it, and nothing is left running.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.put("services", serviceNamed("orders", nil))
		p := New(shop, &Cluster{Server: &url.URL{Scheme: "https", Host: "k"}, staticToken: "t0"}, s)
		p.watchers[0].decode = func([]byte) (string, string, object, error) { panic("unread") }
		defer func() {
			if v := recover(); v != "unread" {
				t.Error(v)
			}
		}()
		p.Run(t.Context(), func([]discovery.Target, error) {})
	})
}

// 2,000 Services with three endpoints each take a few MiB.
func TestMemory(t *testing.T) {
	const most = 12 << 20
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		before := heap()
		for i := range 2000 {
			name := fmt.Sprintf("service-%04d", i)
			slice := sliceOf(name, true)
			slice["endpoints"] = []any{map[string]any{"addresses": []any{"10.1.0.4"}}, map[string]any{"addresses": []any{"10.1.0.5"}}, map[string]any{"addresses": []any{"10.1.0.6"}}}
			s.put("services", serviceNamed(name, map[string]any{"drawbridge/openapi": "/openapi.json"}))
			s.put("endpointslices", slice)
		}
		s.history = nil
		objects := heap() - before
		f := follow(t, s, shop)
		defer f.end()
		time.Sleep(2 * settle)
		synctest.Wait()
		if n := strings.Count(f.report(), "\n"); n != 2000 {
			t.Fatalf("%d services", n)
		}
		kept := heap() - before - objects
		t.Logf("%d KiB", kept>>10)
		if kept > most {
			t.Errorf("%d KiB, more than %d", kept>>10, most>>10)
		}
	})
}

// heap returns the bytes that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Objects of any form are read or refused, and what is read is a service within the cluster.
func FuzzObjects(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"orders","namespace":"shop"},"spec":{"ports":[{"port":80}]}}`),
		[]byte(`{"metadata":{"name":"x","namespace":"shop","labels":{"kubernetes.io/service-name":"orders"}},"endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"port":80}]}`))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		_, _, o, err := decodeService(one)
		if err != nil {
			return
		}
		var endpoints []*endpointSlice
		if _, _, e, err := decodeSlice(other); err == nil {
			endpoints = append(endpoints, e.(*endpointSlice))
		}
		s := o.(*service)
		for _, direct := range []bool{false, true} {
			target := s.target(endpoints, direct)
			if !label.MatchString(target.Name) || !label.MatchString(target.Namespace) || target.Problem == "" && len(target.Instances) == 0 {
				t.Errorf("%+v", target)
			}
			for _, instance := range target.Instances {
				if !direct && !s.headless && !strings.HasPrefix(instance, target.Name+"."+target.Namespace+".svc:") {
					t.Error(instance)
				}
			}
		}
	})
}

// More objects than are kept are counted, whatever the server answers.
func TestManyObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		for i := range maxObjects + 7 {
			o := map[string]any{"metadata": map[string]any{"name": fmt.Sprint("s", i), "namespace": "shop", "resourceVersion": "1"}}
			s.objects["services"][keyOf(o)] = o
		}
		f := follow(t, s, shop)
		defer f.end()
		time.Sleep(2 * settle)
		synctest.Wait()
		const want = "services of namespace shop: there are more than 20000; 7 are left out"
		got := f.report()
		if n := strings.Count(got, "\n"); n != maxObjects+1 || !strings.HasSuffix(got, want+"\n") {
			t.Errorf("%d lines; %s", n, got[max(0, len(got)-200):])
		}
	})
}
