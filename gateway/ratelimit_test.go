package gateway_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestPrincipalRate: each principal has its own, whatever its token and its address; the handshake is spared; who is refused
// is told when to come again.
func TestPrincipalRate(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+"limits: {principal_rate: {rate: 1/m, burst: 3}}\n", service.URL)
	h := g.Handler()
	for n, revision := range gatewaytest.Eras {
		subject := fmt.Sprint("s", n)
		one := gatewaytest.NewClient(t, h, revision, i.Token(t, map[string]any{"sub": subject}))
		for left := 2; left >= 0; left-- {
			w := one.Send("tools/list", "", "")
			if got, want := w.Header().Get("RateLimit"), fmt.Sprintf(`"principal";r=%d;t=%d`, left, 60*(3-left)); w.Code != 200 || got != want ||
				w.Header().Get("RateLimit-Policy") != `"principal";q=3;w=180` {
				t.Errorf("%s: %d %q %q, want %q", revision, w.Code, got, w.Header().Get("RateLimit-Policy"), want)
			}
		}
		other := gatewaytest.NewClient(t, gatewaytest.From(h, "192.0.2.9:1"), revision, i.Token(t, map[string]any{"sub": subject, "jti": "another"}))
		w := other.Call("list")
		const body = `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"too many requests of this caller: come again in 60 seconds","data":{"retryAfter":60}}}`
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" || w.Header().Get("RateLimit") != `"principal";r=0;t=180` || w.Body.String() != body {
			t.Errorf("%s: %d %v %s", revision, w.Code, w.Header(), w.Body)
		}
		handshake := "ping"
		if revision >= "2026" {
			handshake = "server/discover"
		}
		if w := other.Send(handshake, "", ""); w.Code != 200 {
			t.Errorf("%s: %s = %d", revision, handshake, w.Code)
		}
		if w := gatewaytest.NewClient(t, h, revision, i.Token(t, map[string]any{"sub": subject + "x"})).Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("%s: somebody else = %d %s", revision, w.Code, w.Body)
		}
		service.Taken()
	}
	if got := counted(t, g.Counters().Refused[telemetry.RefusedPrincipalRate]); got != float64(len(gatewaytest.Eras)) {
		t.Errorf("%v refusals counted", got)
	}
}

// TestAddressRate: without tokens the address is all that is known of a caller. The handshake is counted, never refused, and its body
// arrives whole; peers on loopback are spared unless a trusted proxy there speaks for somebody.
func TestAddressRate(t *testing.T) {
	const cfg = "server: {trusted_proxies: [10.0.0.1, 127.0.0.2]}\nauth: {anonymous: true}\n" +
		"apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {address_rate: {rate: 1/m, burst: 2}}\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), cfg, gatewaytest.NewRecordingService(t).URL)
	initialize := `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	plain := http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}}
	for _, address := range []string{"192.0.2.1:1", "[2001:db8::1]:1"} {
		h := gatewaytest.From(g.Handler(), address)
		c := gatewaytest.NewClient(t, h, "2026-07-28", "")
		for left := 1; left >= 0; left-- {
			if w := c.Call("list"); w.Code != 200 || w.Header().Get("RateLimit") != fmt.Sprintf(`"address";r=%d;t=%d`, left, 60*(2-left)) {
				t.Errorf("%s: %d %v %s", address, w.Code, w.Header(), w.Body)
			}
		}
		w := c.Call("list")
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" || w.Header().Get("RateLimit-Policy") != `"address";q=2;w=120` ||
			w.Body.String() != `{"jsonrpc":"2.0","error":{"code":-32600,"message":"too many requests from this address: come again in 60 seconds","data":{"retryAfter":60}}}` {
			t.Errorf("%s: %d %v %s", address, w.Code, w.Header(), w.Body)
		}
		for range 3 {
			if w := gatewaytest.Post(h, plain, initialize); w.Code != 200 || !strings.Contains(w.Body.String(), `"protocolVersion":"2025-06-18"`) {
				t.Errorf("%s: initialize = %d %s", address, w.Code, w.Body)
			}
		}
		if w := c.Send("server/discover", "", ""); w.Code != 200 {
			t.Errorf("%s: server/discover = %d %s", address, w.Code, w.Body)
		}
		// What only says that it is a handshake is none.
		claims := plain.Clone()
		claims.Set("Mcp-Method", "ping")
		claims.Set("MCP-Protocol-Version", "2025-06-18")
		list := `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`
		for name, body := range map[string]string{
			"a list": list, "twice": `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, "batch": "[" + list + "]", "none": "x",
			"long": `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 16<<10) + `"}}`,
		} {
			if w := gatewaytest.Post(h, claims, body); w.Code != http.StatusTooManyRequests || strings.Contains(w.Body.String(), `"id":"l"`) != (name == "a list") {
				t.Errorf("%s: %s = %d %s", address, name, w.Code, w.Body)
			}
		}
	}
	// One network is one caller, and others are others.
	for address, want := range map[string]int{"[2001:db8::2]:9": 429, "[2001:db8:0:1::1]:9": 200, "192.0.2.2:1": 200, "[::ffff:192.0.2.1]:1": 429} {
		if w := gatewaytest.NewClient(t, gatewaytest.From(g.Handler(), address), "2026-07-28", "").Send("tools/list", "", ""); w.Code != want {
			t.Errorf("%s: %d, want %d", address, w.Code, want)
		}
	}
	for name, c := range map[string]struct {
		address string
		header  http.Header
		want    int
	}{
		"loopback":                       {"127.0.0.1:1", nil, 200},
		"loopback with somebody's word":  {"127.0.0.1:1", http.Header{"X-Forwarded-For": {"192.0.2.7"}}, 200},
		"a proxy on loopback for itself": {"127.0.0.2:1", nil, 200},
		"for somebody":                   {"127.0.0.2:1", http.Header{"X-Forwarded-For": {"192.0.2.1"}}, 429},
		"whom two headers hide":          {"127.0.0.2:1", http.Header{"X-Forwarded-For": {"192.0.2.3"}, "Forwarded": {"for=127.0.0.1"}}, 429},
		"a proxy elsewhere":              {"10.0.0.1:1", http.Header{"X-Forwarded-For": {"127.0.0.1"}}, 429},
	} {
		client := gatewaytest.NewClient(t, gatewaytest.From(g.Handler(), c.address), "2026-07-28", "")
		maps.Copy(client.Header, c.header)
		code := 0
		for range 3 {
			code = client.Send("tools/list", "", "").Code
		}
		if code != c.want {
			t.Errorf("%s: %d, want %d", name, code, c.want)
		}
	}
}

// TestBadTokensCostTheirAddress: who sends bad tokens is not looked at any more, not even for a handshake; who is known already, and
// other addresses, are served.
func TestBadTokensCostTheirAddress(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+"limits: {address_rate: {rate: 1/m, burst: 5}}\n", service.URL)
	good := i.Token(t, map[string]any{"jti": "0"})
	call := func(address, token string) int {
		return gatewaytest.NewClient(t, gatewaytest.From(g.Handler(), address), "2026-07-28", token).Send("server/discover", "", "").Code
	}
	if code := call("192.0.2.1:1", good); code != 200 {
		t.Fatalf("a good token: %d", code)
	}
	for n := range 8 {
		want := 401
		if n >= 5 {
			want = 429
		}
		if code := call("192.0.2.1:1", i.Token(t, map[string]any{"aud": "elsewhere", "jti": strconv.Itoa(n)})); code != want {
			t.Errorf("bad token %d: %d, want %d", n, code, want)
		}
	}
	for name, c := range map[string]struct {
		address, token string
		want           int
	}{
		"known":             {"192.0.2.1:1", good, 200},
		"unknown":           {"192.0.2.1:1", i.Token(t, map[string]any{"jti": "1"}), 429},
		"no token":          {"192.0.2.1:1", "", 401},
		"another address":   {"192.0.2.2:1", i.Token(t, map[string]any{"aud": "elsewhere"}), 401},
		"a peer like yours": {"127.0.0.1:1", i.Token(t, map[string]any{"aud": "elsewhere"}), 401},
	} {
		if code := call(c.address, c.token); code != c.want {
			t.Errorf("%s: %d, want %d", name, code, c.want)
		}
	}
	for n := range 12 { // good ones give back what they took
		if code := call("192.0.2.3:1", i.Token(t, map[string]any{"sub": "u", "jti": fmt.Sprint("g", n)})); code != 200 {
			t.Errorf("good token %d: %d", n, code)
		}
	}
	if got := counted(t, g.Counters().Refused[telemetry.RefusedBadTokens]); got != 4 {
		t.Errorf("%v refusals counted", got)
	}
}

// TestCallRates: what a tool and an API get, in all or of each caller. In a batch the calls that are too many are refused alone, and
// what is refused reaches nobody.
func TestCallRates(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "credential:", "rate: {rate: 1/h, burst: 6}, credential:", 1) +
		"  - {match: {operation: list}, set: {rate: {rate: 1/m, burst: 2, per: principal}}}\n" +
		"  - {match: {operation: show}, set: {rate: {rate: 1/m, burst: 1}}}\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "show", "other"), cfg, service.URL)
	a := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, map[string]any{"sub": "a"}))
	b := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, map[string]any{"sub": "b"}))
	done := func(w *httptest.ResponseRecorder) bool {
		return w.Code == 200 && strings.Contains(w.Body.String(), `\"done\":true`)
	}
	if w := a.Call("list"); !done(w) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	header := a.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("Mcp-Session-Id", a.Session)
	call := func(id int, tool string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
	}
	w := gatewaytest.Post(g.Handler(), header, "["+call(1, "list")+","+call(2, "other")+","+call(3, "list")+"]")
	body := w.Body.String()
	refused := `"error":{"code":-32600,"message":"too many calls of the tool \"list\" by this caller: come again in 60 seconds","data":{"retryAfter":60}}`
	if w.Code != 200 || strings.Count(body, `\"done\":true`) != 2 || strings.Count(body, refused) != 1 || w.Header().Get("Retry-After") != "" {
		t.Errorf("batch: %d %s", w.Code, body)
	}
	if n := len(service.Taken()); n != 3 {
		t.Errorf("%d requests reached the service", n)
	}
	for _, step := range []struct {
		c       *gatewaytest.Client
		tool    string
		message string
	}{
		{b, "list", ""}, // its own
		{b, "show", ""},
		{a, "show", `too many calls of the tool \"show\": come again in 60 seconds`},
		{a, "other", ""}, // what the tool refused is not counted for the API
		{b, "other", `too many calls of the API \"shop\": come again in 60 minutes`},
	} {
		w := step.c.Call(step.tool)
		if step.message == "" && !done(w) || step.message != "" && (w.Code != 429 || !strings.Contains(w.Body.String(), step.message)) {
			t.Errorf("%s: %d %s, want %q", step.tool, w.Code, w.Body, step.message)
		}
	}
	if n := len(service.Taken()); n != 3 {
		t.Errorf("%d requests reached the service", n)
	}
	if tool, api := counted(t, g.Counters().Refused[telemetry.RefusedToolRate]), counted(t, g.Counters().Refused[telemetry.RefusedAPIRate]); tool != 2 || api != 1 {
		t.Errorf("refusals counted: %v of tools, %v of APIs", tool, api)
	}
	// A word of its own: "refused" are requests to addresses that are not allowed.
	if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="limited"`); len(lines) != 3 {
		t.Errorf("calls that were limited: %q", lines)
	}
	if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="refused"`); len(lines) != 0 {
		t.Errorf("calls to addresses that are not allowed: %q", lines)
	}
}

// TestBatchesCountEachRequest is H6: the address pays for each of them.
func TestBatchesCountEachRequest(t *testing.T) {
	const cfg = "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {address_rate: {rate: 1/m, burst: 4}}\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), cfg, gatewaytest.NewRecordingService(t).URL)
	h := gatewaytest.From(g.Handler(), "192.0.2.1:1")
	c := gatewaytest.NewClient(t, h, "2025-03-26", "")
	c.Send("ping", "", "") // two: with the handshake
	var calls []string
	for id := range 4 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
	}
	w := gatewaytest.Post(h, http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {c.Session}},
		"["+strings.Join(calls, ",")+"]")
	if body := w.Body.String(); w.Code != 200 || strings.Count(body, `"tools":[`) != 2 || strings.Count(body, "too many requests from this address") != 2 {
		t.Errorf("%d %s", w.Code, body)
	}
}

// TestAuditCostsLittle holds that the line of a call is not made of memory, but for what is known of the call and its name.
func TestAuditCostsLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	service := gatewaytest.NewRecordingService(t)
	measure := func(log *audit.Log) float64 {
		g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]", service.URL), Audit: log})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "")
		least := math.Inf(1)
		for range 5 {
			least = min(least, testing.AllocsPerRun(200, func() {
				if w := c.Send("tools/call", "list", "{}"); w.Code != 200 {
					t.Fatal(w.Code, w.Body)
				}
			}))
		}
		return least
	}
	log, err := audit.New(audit.Options{Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	without, with := measure(nil), measure(log)
	cancel()
	if err := timebox.Receive(t, ended); err != nil {
		t.Error(err)
	}
	if with > without+3 {
		t.Errorf("%v allocations with an audit log, %v without", with, without)
	}
}

// TestRatesCostLittle holds that what a rate does to a request that it allows is not made of memory.
func TestRatesCostLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector has pools forget by chance; make whole is without it")
	}
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	token := i.Token(t, nil)
	measure := func(limits string) float64 {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+limits, service.URL)
		h := gatewaytest.From(g.Handler(), "192.0.2.1:1")
		c := gatewaytest.NewClient(t, h, "2026-07-28", token)
		least := math.Inf(1) // what else the runtime allocates comes and goes
		for range 5 {
			least = min(least, testing.AllocsPerRun(200, func() {
				if w := c.Send("tools/list", "", ""); w.Code != 200 {
					t.Fatal(w.Code, w.Body)
				}
			}))
		}
		return least
	}
	without := measure("limits: {address_rate: off, principal_rate: off}\n")
	with := measure("limits: {address_rate: {rate: 1000000/s}, principal_rate: {rate: 1000000/s}}\n")
	if with > without+1 {
		t.Errorf("%v allocations with rates, %v without", with, without)
	}
	t.Logf("%v allocations with rates, %v without", with, without)
}

// awayRates are shared counters that can't be asked, where state.closed has rates.
type awayRates struct{}

func (awayRates) Take(context.Context, string, state.Limit, int) (state.Decision, error) {
	return state.Decision{RetryAfter: time.Second, Reset: time.Second, Uncounted: true}, nil
}

func (a awayRates) TakeAll(ctx context.Context, takes []state.Take) ([]state.Decision, error) {
	all := make([]state.Decision, len(takes))
	for i := range all {
		all[i], _ = a.Take(ctx, "", state.Limit{}, 1)
	}
	return all, nil
}

// TestUncounted: a caller who can't be counted is not told that it was too fast, and is counted for what it was.
func TestUncounted(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "credential:", "rate: {rate: 1/h, burst: 6}, credential:", 1)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), cfg, service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, map[string]any{"sub": "a"}))
	own := g.Shared().Rates
	t.Cleanup(func() { g.SetRates(own) })
	g.SetRates(awayRates{})
	for _, what := range []string{"the rate of callers", "that of the API"} {
		if what == "that of the API" {
			g.Current().Rates.Principal = nil
		}
		w := c.Call("list")
		want := `"message":"the gateway can't count calls now, and lets none through uncounted: come again in 1 second"`
		if w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Header().Get("Ratelimit") != "" || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %v %s", what, w.Code, w.Header(), w.Body)
		}
	}
	if n := len(service.Taken()); n != 0 {
		t.Errorf("%d requests reached the service", n)
	}
	if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="uncounted"`); len(lines) != 1 {
		t.Errorf("calls that were not counted: %q", lines)
	}
	if uncounted, principal := counted(t, g.Counters().Refused[telemetry.RefusedUncounted]), counted(t, g.Counters().Refused[telemetry.RefusedPrincipalRate]); uncounted != 2 || principal != 0 {
		t.Errorf("refusals counted: %v, %v of callers", uncounted, principal)
	}
}
