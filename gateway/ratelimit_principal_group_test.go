package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/auth"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
)

// groupLimits gives the client acme more than others, and all with a claim a rate that they share.
const groupLimits = `limits:
  principal_rate: {rate: 1/m, burst: 2}
  principal_rates:
    - {match: {client_id: acme}, rate: 1/m, burst: 4}
    - {match: {claims: {/org/id: [shared, other]}}, rate: 1/m, burst: 3, per: all}
`

// spend sends requests until one is refused, and returns how many were served; the refusal must be the one that is wanted.
func spend(t *testing.T, c *gatewaytest.Client, whose, policy string) (served int) {
	t.Helper()
	for range 20 {
		w := c.Send("tools/list", "", "")
		if got := w.Header().Get("RateLimit-Policy"); got != policy {
			t.Errorf("policy %q, want %q", got, policy)
		}
		if w.Code == http.StatusTooManyRequests {
			if want := "too many requests of " + whose + ": come again in 60 seconds"; !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s, want %q", w.Body, want)
			}
			return served
		}
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		served++
	}
	return served
}

// TestPrincipalRates: the first item that matches holds, for each principal by itself or for all together; all others have the rate
// of everybody. The tokens of one subject count for what their client is.
func TestPrincipalRates(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+groupLimits, service.URL)
	for n, revision := range gatewaytest.Eras {
		subject := func(s string) string { return fmt.Sprint(s, n) }
		caller := func(claims map[string]any) *gatewaytest.Client {
			return gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, claims))
		}
		org := map[string]any{"id": "shared"}
		one, two := "this caller", "this caller and those who share its rate"
		for _, tt := range []struct {
			name   string
			claims map[string]any
			whose  string
			burst  int
			want   int
		}{
			{"anybody", map[string]any{"sub": subject("alice")}, one, 2, 2},
			{"the same of the client", map[string]any{"sub": subject("alice"), "client_id": "acme"}, one, 4, 4},
			{"another of the client", map[string]any{"sub": subject("bob"), "client_id": "acme"}, one, 4, 4},
			{"the client first", map[string]any{"sub": subject("carol"), "client_id": "acme", "org": org}, one, 4, 4},
			{"one who shares", map[string]any{"sub": subject("dave"), "org": org}, two, 3, 3 - 3*n},
			{"another who does", map[string]any{"sub": subject("erin"), "org": map[string]any{"id": []string{"x", "other"}}}, two, 3, 0},
			{"one with another claim", map[string]any{"sub": subject("frank"), "org": map[string]any{"id": "Shared"}}, one, 2, 2},
		} {
			c := caller(tt.claims)
			if got := spend(t, c, tt.whose, fmt.Sprintf(`"principal";q=%d;w=%d`, tt.burst, 60*tt.burst)); got != tt.want {
				t.Errorf("%s, %s: %d requests were served, want %d", revision, tt.name, got, tt.want)
			}
			if w := c.Send(map[bool]string{true: "server/discover", false: "ping"}[revision >= "2026"], "", ""); w.Code != http.StatusOK {
				t.Errorf("%s, %s: the handshake: %d", revision, tt.name, w.Code)
			}
		}
	}
	if got := counted(t, g.Counters().Refused[telemetry.RefusedPrincipalRate]); got != 14 {
		t.Errorf("%v refusals counted", got)
	}
}

// TestPrincipalRatesAlone: they hold also where nobody else has a rate.
func TestPrincipalRatesAlone(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+strings.Replace(groupLimits, "{rate: 1/m, burst: 2}", "off", 1), service.URL)
	if got := spend(t, gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)), "", ""); got != 20 {
		t.Errorf("anybody: %d requests were served", got)
	}
	if got := spend(t, gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"client_id": "acme"})), "this caller", `"principal";q=4;w=240`); got != 4 {
		t.Errorf("the client: %d requests were served", got)
	}
}

// TestPrincipalRateOff: an item lifts the rate of those whom it matches, for requests and for what they only say, and of nobody else; a reload
// may give them one again.
func TestPrincipalRateOff(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	text := strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL).Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + groupLimits +
		"    - {match: {client_id: monitor}, rate: off}\n    - {match: {client_id: [monitor, other]}, rate: 1/m, burst: 3}\n")
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("Shop", "list"), "drawbridge.yaml": text})
	r.Served()
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, r.Handler(), revision, i.Token(t, map[string]any{"client_id": "monitor", "sub": revision}))
		if got := spend(t, c, "", ""); got != 20 {
			t.Errorf("%s: %d requests were served", revision, got)
		}
		if revision < "2026" {
			for n := range 10 {
				header := c.Header.Clone()
				header.Set("Mcp-Session-Id", c.Session)
				header.Set("Content-Type", "application/json")
				header.Set("Accept", "application/json, text/event-stream")
				if w := gatewaytest.Post(r.Handler(), header, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`); w.Code != http.StatusAccepted {
					t.Fatalf("notification %d: %d %s", n, w.Code, w.Body)
				}
			}
		}
		other := gatewaytest.NewClient(t, r.Handler(), revision, i.Token(t, map[string]any{"client_id": "other", "sub": revision}))
		if got := spend(t, other, "this caller", `"principal";q=3;w=180`); got != 3 {
			t.Errorf("%s, another client: %d requests were served", revision, got)
		}
	}
	r.Write(map[string]string{"drawbridge.yaml": strings.Replace(text, "rate: off}", "rate: 1/m, burst: 5}", 1)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := spend(t, gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"client_id": "monitor"})), "this caller", `"principal";q=5;w=300`); got != 5 {
		t.Errorf("after the reload: %d requests were served", got)
	}
}

// TestPrincipalRatesShared: replicas count together, each principal by itself, and all of an item as one.
func TestPrincipalRatesShared(t *testing.T) {
	i, service, m := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t), miniredis.RunT(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "server: {", "server: {seal_keys: [\"${KEY:-0123456789abcdef0123456789abcdef}\"], ", 1)
	gs := replicas(t, m, 2, gatewaytest.Document("Shop", "list"), cfg+groupLimits+"state: {redis: {url: $REDIS, timeout: 1s}}\n", service.URL)
	for name, tt := range map[string]struct {
		claims map[string]any
		burst  int
	}{
		"anybody":    {map[string]any{"sub": "a"}, 2},
		"the client": {map[string]any{"sub": "a", "client_id": "acme"}, 4},
		"all":        {map[string]any{"sub": "b", "org": map[string]any{"id": "shared"}}, 3},
	} {
		served := 0
		for n := range 10 {
			w := gatewaytest.NewClient(t, gs[n%2].Handler(), gatewaytest.Eras[0], i.Token(t, tt.claims)).Send("tools/list", "", "")
			if w.Code == http.StatusOK {
				served++
			}
		}
		if served != tt.burst {
			t.Errorf("%s: %d requests were served by two replicas, want %d", name, served, tt.burst)
		}
	}
}

// TestReloadOfPrincipalRates: a reload changes them for tokens that are known already, and what was counted goes on to count.
func TestReloadOfPrincipalRates(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	text := strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL).Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + groupLimits)
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("Shop", "list"), "drawbridge.yaml": text})
	r.Served()
	reload := func(old, changed string) {
		t.Helper()
		text = strings.Replace(text, old, changed, 1)
		r.Write(map[string]string{"drawbridge.yaml": text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"client_id": "acme"}))
	if got := spend(t, c, "this caller", `"principal";q=4;w=240`); got != 4 {
		t.Errorf("%d requests were served", got)
	}
	guard, source := r.Current().Main.Guard, r.Current().Main.Plan("list").Source
	reload("burst: 4", "burst: 6")
	if got := spend(t, c, "this caller", `"principal";q=6;w=360`); got != 2 {
		t.Errorf("with a larger burst %d more requests were served", got)
	}
	if r.Current().Main.Guard != guard {
		t.Error("the tokens that were known are forgotten, though the same principals have rates of their own")
	}
	if r.Current().Main.Plan("list").Source != source {
		t.Error("the connections to the service are others, though nothing of it has changed")
	}
	reload("client_id: acme", "client_id: another")
	if got := spend(t, c, "this caller", `"principal";q=2;w=120`); got != 2 {
		t.Errorf("without a rate of its own %d requests were served", got)
	}
}

// TestPrincipalRatesAllocate nothing: which rate is a principal's is known with its token.
func TestPrincipalRatesAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+groupLimits, service.URL)
	token := i.Token(t, map[string]any{"client_id": "acme"})
	all := &g.Current().Rates
	var found *admission.RateLimit
	h := g.Current().Main.Guard.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p := auth.FromContext(r.Context())
		if n := testing.AllocsPerRun(100, func() { found, _ = all.Of(r.Context(), p.ID()) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}))
	gatewaytest.Post(h, http.Header{"Authorization": {"Bearer " + token}}, "{}")
	if found == nil || found.Limit().Burst != 4 {
		t.Errorf("the rate is %v", found)
	}
}
