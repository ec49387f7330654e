package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway/discovery"
	"drawbridge/test/gatewaytest"
)

// witness is a service that remembers the tokens that it is sent.
type witness struct {
	*httptest.Server
	mu     sync.Mutex
	asked  int
	tokens []string
}

func newWitness(t *testing.T, name string) *witness {
	t.Helper()
	w := &witness{}
	text := gatewaytest.Document(name, "list")
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		if w.asked++; r.Header.Get("Authorization") != "" {
			w.tokens = append(w.tokens, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		}
		w.mu.Unlock()
		switch r.URL.Path {
		case "/openapi.json":
			fmt.Fprint(out, text)
		case "/list":
			fmt.Fprintf(out, `{"by": %q}`, name)
		default:
			out.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *witness) saw() (asked int, tokens []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, slices.Clone(w.tokens)
}

// groupsIn is a file of target groups: namespaces with the address of their service orders.
func groupsIn(pairs ...string) map[string]string {
	var groups []string
	for i := 0; i < len(pairs); i += 2 {
		groups = append(groups, fmt.Sprintf(`{"targets": [%q], "labels": {"service": "orders", "namespace": %q}}`, pairs[i+1], pairs[i]))
	}
	return map[string]string{"targets.json": "[" + strings.Join(groups, ",") + "]"}
}

const namespaceConfig = `discovery:
  - name: shop
    file: {paths: [targets.json]}
    allow_addresses: [127.0.0.0/8]
    credentials: [{match: {%s}, credential: {type: bearer, token: s3cr3t-of-orders}}]
`

// A credential that names a service without its namespace goes to no service that has one, however many there are: neither with the lookup of its document
// for its document, nor with the fetch of it, nor with calls. The line to write is in the report.
func TestCredentialWithoutNamespace(t *testing.T) {
	shop, partner := newWitness(t, "shop"), newWitness(t, "partner")
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": fmt.Sprintf(namespaceConfig, "name: orders"),
		"targets.json":    groupsIn("partner", partner.Listener.Addr().String())["targets.json"],
	})
	r.Eventually("the only one is served", func() bool { return slices.Equal(r.Tools(), []string{"shop-orders_list"}) })
	gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call("shop-orders_list")
	r.Write(groupsIn("shop", shop.Listener.Addr().String(), "partner", partner.Listener.Addr().String()))
	r.Eventually("both are served", func() bool {
		return slices.Equal(r.Tools(), []string{"shop-partner-orders_list", "shop-shop-orders_list"})
	})
	gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call("shop-partner-orders_list")
	for name, w := range map[string]*witness{"shop": shop, "partner": partner} {
		if asked, tokens := w.saw(); asked == 0 || len(tokens) > 0 {
			t.Errorf("%s: %d requests, %q", name, asked, tokens)
		}
	}
	says := func(s *discovery.ServiceStatus) bool {
		return slices.ContainsFunc(s.Warnings, func(w string) bool {
			return strings.HasSuffix(w, "write match: {name: orders, namespace: "+s.Namespace+"}")
		})
	}
	if d := r.Status().Discovery; len(d.Services) != 2 || !says(&d.Services[0]) || !says(&d.Services[1]) {
		t.Errorf("%+v", d)
	}
}

// A service that the configuration names with its namespace keeps its name, its credential and its calls, whatever is registered beside it
// or in its place.
func TestCredentialWithNamespace(t *testing.T) {
	shop, partner := newWitness(t, "shop"), newWitness(t, "partner")
	of := func(w *witness) string { return w.Listener.Addr().String() }
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": fmt.Sprintf(namespaceConfig, "name: orders, namespace: shop"), "targets.json": groupsIn("aaa", of(partner))["targets.json"],
	})
	call := func(tool, by string) func() bool {
		return func() bool {
			return strings.Contains(gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call(tool).Body.String(), fmt.Sprintf(`"by":%q`, by))
		}
	}
	r.Eventually("the other one does not have the name", call("shop-aaa-orders_list", "partner"))
	r.Write(groupsIn("aaa", of(partner), "shop", of(shop)))
	r.Eventually("the one that is named has it", call("shop-orders_list", "shop"))
	for i := range 6 {
		if r.Write(groupsIn("aaa", of(partner))); i%2 == 0 {
			r.Write(groupsIn("shop", of(shop)))
		}
		r.Write(groupsIn("shop", of(shop), "aaa", of(partner)))
	}
	r.Eventually("afterwards", call("shop-orders_list", "shop"))
	r.Eventually("afterwards", call("shop-aaa-orders_list", "partner"))
	if _, tokens := partner.saw(); len(tokens) > 0 {
		t.Errorf("the other one was sent %q", tokens)
	}
	if _, tokens := shop.saw(); len(tokens) == 0 {
		t.Error("the one that is named was sent no token")
	}
}

// Rules that name an API by the name that api_name gives it hold for each service that claims the name: a registration takes no
// restriction from another service.
func TestRulesOfClaimedName(t *testing.T) {
	shop, partner := newWitness(t, "shop"), newWitness(t, "partner")
	text := `discovery:
  - name: shop
    file: {paths: [targets.json]}
    allow_addresses: [127.0.0.0/8]
rules:
  - {match: {api: shop-orders, operation: list}, set: {description: restricted by the rule}}
`
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": text, "targets.json": groupsIn("shop", shop.Listener.Addr().String())["targets.json"],
	})
	described := func(names ...string) func() bool {
		return func() bool {
			return slices.Equal(r.Tools(), names) && !slices.ContainsFunc(names, func(name string) bool {
				return r.Plan(name).Tool.Description != "restricted by the rule"
			})
		}
	}
	r.Eventually("alone", described("shop-orders_list"))
	r.Write(groupsIn("shop", shop.Listener.Addr().String(), "partner", partner.Listener.Addr().String()))
	r.Eventually("with another one", described("shop-partner-orders_list", "shop-shop-orders_list"))
}

// A rule that names an API sends its secrets to no service that took the name when it registered; the operation is not served, and the
// report has the line to write.
func TestSecretsOfRules(t *testing.T) {
	const text = `{"openapi": "3.1.0", "info": {"title": "orders", "version": "1"}, "paths": {"/list": {"get": {"operationId": "list",
		"parameters": [{"name": "key", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}}}}`
	var mu sync.Mutex
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/openapi.json" {
			fmt.Fprint(w, text)
			return
		}
		if r.URL.Path == "/list" {
			keys = append(keys, r.URL.Query().Get("key"))
		}
	}))
	defer s.Close()
	config := func(services string) map[string]string {
		return map[string]string{"drawbridge.yaml": `discovery:
  - {name: shop, file: {paths: [targets.json]}, allow_addresses: [127.0.0.0/8]` + services + `}
rules:
  - {match: {api: shop-orders}, set: {arguments: {key: {secret: canary-of-the-rule}}}}
`}
	}
	files := config("")
	files["targets.json"] = groupsIn("partner", s.Listener.Addr().String())["targets.json"]
	r := gatewaytest.Run(t, files)
	r.Eventually("the operation is not served", func() bool {
		report, ok := r.Report("shop-orders")
		return ok && len(report.Operations) == 1 && len(report.Operations[0].Reasons) == 1 &&
			strings.Contains(report.Operations[0].Reasons[0].Message, "of the provider shop: {name: orders, namespace: partner}")
	})
	if len(r.Tools()) > 0 {
		t.Errorf("served: %q", r.Tools())
	}
	r.Write(config(", services: [{name: orders, namespace: partner}, {namespace: '*'}]"))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Eventually("the service is named", func() bool { return slices.Equal(r.Tools(), []string{"shop-orders_list"}) })
	gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call("shop-orders_list")
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(keys, []string{"canary-of-the-rule"}) {
		t.Errorf("sent %q", keys)
	}
}
