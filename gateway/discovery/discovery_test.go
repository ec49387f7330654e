package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
	"drawbridge/test/gatewaytest"
)

// newService is a service with its document at /openapi.json, which answers every call with its name.
func newService(t *testing.T, name string, operations ...string) *httptest.Server {
	t.Helper()
	text := gatewaytest.Document(name, operations...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/openapi.json":
			fmt.Fprint(w, text)
		case slices.Contains(operations, strings.TrimPrefix(r.URL.Path, "/")):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"by": %q, "authorization": %q}`, name, r.Header.Get("Authorization"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// targets is a file of target groups: pairs of a service's name and its address.
func targets(pairs ...string) map[string]string {
	var groups []string
	for i := 0; i < len(pairs); i += 2 {
		groups = append(groups, fmt.Sprintf(`{"targets": [%q], "labels": {"service": %q}}`, pairs[i+1], pairs[i]))
	}
	return map[string]string{"targets.json": "[" + strings.Join(groups, ",") + "]"}
}

const discoveryConfig = `discovery:
  - name: shop
    file: {paths: [targets.json]}
    allow_addresses: [127.0.0.0/8]
    credentials: [{match: {name: orders}, credential: {type: bearer, token: s3cr3t-of-orders}}]
`

// Services that come, move, and go are served, without a word of the configuration.
func TestDiscovery(t *testing.T) {
	orders, moved, billing := newService(t, "orders", "list"), newService(t, "moved", "list"), newService(t, "billing", "pay")
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": discoveryConfig, "targets.json": targets("orders", address(orders))["targets.json"]})
	has := func(want ...string) func() bool { return func() bool { return slices.Equal(r.Tools(), want) } }
	r.Eventually("the service is served", has("shop-orders_list"))
	says := func(tool, want string) func() bool {
		return func() bool {
			return strings.Contains(gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call(tool).Body.String(), want)
		}
	}
	if !says("shop-orders_list", `"by":"orders","authorization":"Bearer `)() {
		t.Error(gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call("shop-orders_list").Body)
	}
	first := r.Plan("shop-orders_list")
	r.Write(targets("orders", address(orders), "billing", address(billing), "metadata", "169.254.169.254:80"))
	r.Eventually("another comes", has("shop-billing_pay", "shop-orders_list"))
	if r.Plan("shop-orders_list") != first {
		t.Error("the plan of a service was made anew for another one")
	}
	if report, _ := r.Report("shop-orders"); report.API.Service == nil || *report.API.Service != (admin.Service{Provider: "shop", Kind: "file", Name: "orders"}) {
		t.Errorf("the API is of %+v", report.API.Service)
	}
	if !says("shop-billing_pay", `"by":"billing","authorization":""`)() {
		t.Error("a service without credential: ", gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "").Call("shop-billing_pay").Body)
	}
	plan := r.Plan("shop-billing_pay")
	r.Write(targets("orders", address(moved), "billing", address(billing), "metadata", "169.254.169.254:80"))
	r.Eventually("one moves", says("shop-orders_list", `"by":"moved"`))
	if r.Plan("shop-billing_pay").Client != plan.Client {
		t.Error("the client of another service was made anew")
	}
	r.Eventually("the forbidden address is reported", func() bool {
		d := r.Status().Discovery
		return d != nil && slices.ContainsFunc(d.Services, func(s discovery.ServiceStatus) bool {
			return s.Name == "metadata" && s.State == discovery.Missing && strings.Contains(s.Reason, "not allowed")
		})
	})
	r.Write(targets("billing", address(billing)))
	r.Eventually("one goes", has("shop-billing_pay"))
	if got := gatewaytest.MetricLines(r.Gateway, "drawbridge_discovery_services", `state="served"`); len(got) != 1 || !strings.HasSuffix(got[0], " 1") {
		t.Errorf("%q", got)
	}
}

// A command that reads everything once has the services, too.
func TestDiscoveryOnce(t *testing.T) {
	orders := newService(t, "orders", "list")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"drawbridge.yaml": discoveryConfig,
		"targets.json":    targets("orders", orders.Listener.Addr().String(), "gone", "127.0.0.1:1")["targets.json"],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c, Local: true})
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := g.Load(t.Context())
	if err != nil || len(outcomes) != 1 || g.Plan("shop-orders_list") == nil {
		t.Errorf("%+v, %v", outcomes, err)
	}
	if d := g.Status().Discovery; d == nil || len(d.Services) != 2 || d.Services[0].State != discovery.Missing {
		t.Errorf("%+v", d)
	}
}
