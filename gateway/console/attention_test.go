package console

import (
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
)

// troubled is a gateway with a problem of each kind, and APIs without one before and after.
func troubled() *admin.Status {
	return &admin.Status{
		APIs: []admin.API{
			{Name: "fine", State: admin.Ready},
			{Name: "old", State: admin.Stale, Error: "HTTP 502"},
			{Name: "loading", State: admin.Loading},
			{Name: "open", State: admin.Ready, Breaker: "open"},
			{Name: "none", State: admin.Ready, Faults: []string{"the document has no operation"}},
			{Name: "keyless", State: admin.Uncallable, Faults: []string{"a credential is required, but none is configured"}},
			{Name: "kept", State: admin.Held, Faults: []string{"there is no base URL"}, Held: &admin.HeldDocument{Digest: "d1gest", Lost: 3, Of: 9, Undone: 1}},
			{Name: "broken", State: admin.Failed, Error: "line 3: no OpenAPI document\nmore"},
		},
		Config:  admin.Config{Error: "drawbridge.yaml:3:1: unknown key", Opens: []string{"rules[0] is gone"}},
		Issuers: []admin.Issuer{{Issuer: "https://a.example.com", Error: "status 502"}, {Issuer: "https://b.example.com", Able: true, Keys: 1}},
		Audit:   &admin.Audit{Error: "no space left on device", Refuses: true},
		Shared:  &admin.Shared{Error: "connection refused"},
		Discovery: &admin.Discovery{
			Providers: []discovery.ProviderStatus{{Name: "consul", Error: "HTTP 500"}, {Name: "file", Lost: 4}},
			Services: []discovery.ServiceStatus{
				{Provider: "consul", Name: "orders", API: "orders", State: discovery.Served},
				{Provider: "consul", Name: "billing", API: "billing", State: discovery.Held},
				{Provider: "consul", Name: "stock", API: "stock", State: discovery.Missing, Reason: "no document", Next: "register it"},
			},
		},
	}
}

// TestAttention: each problem is listed once, the most severe first, with its page, its reason, and what mends it.
func TestAttention(t *testing.T) {
	var got strings.Builder
	for _, p := range attentionOf(troubled()) {
		got.WriteString(strings.Join([]string{p.State, p.Kind, p.Name, p.URL, p.Reason}, " | ") + "\n")
		if p.Next == "" && p.Accept == "" {
			t.Errorf("nothing mends %+v", p)
		}
	}
	const want = `failed | issuer | https://a.example.com | /console#dependencies | no keys: status 502
failed | audit log |  | /console#dependencies | not writable since 0001-01-01T00:00:00Z, calls are refused, 0 records wait: no space left on device
failed | shared state |  | /console#dependencies | away since 0001-01-01T00:00:00Z, 0 replicas were last seen: connection refused
refused | configuration |  | /console#refused | drawbridge.yaml:3:1: unknown key
held | configuration |  | /console#opens | 1 change gives wider access
failed | API | broken | /console/apis/broken | line 3: no OpenAPI document
uncallable | API | keyless | /console/apis/keyless | a credential is required, but none is configured
uncallable | API | kept | /console/apis/kept | there is no base URL
held | document | kept | /console/apis/kept#held | 3 of 9 operations are missing in the new document; it would undo 1 restriction
stale | API | old | /console/apis/old | HTTP 502
refusing | API | open | /console/live?api=open&outcome=failed | The circuit breaker is open: its calls fail at once.
empty | API | none | /console/apis/none | the document has no operation
failed | provider | consul | /console#providers | HTTP 500
lost | provider | file | /console/apis#services | 4 services vanished at once and are still served
held | service | billing | /console/apis#services | registered at consul as billing
missing | service | stock | /console/apis#services | no document
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
	if all := attentionOf(&admin.Status{APIs: []admin.API{{Name: "fine", State: admin.Ready}}}); len(all) != 0 {
		t.Errorf("a gateway without problems has %+v", all)
	}
}

// TestAttentionFirst: problems are at the top of the overview, and each link leads to a page with that section.
func TestAttentionFirst(t *testing.T) {
	f := fixed{status: *troubled()}
	f.report.API = admin.API{Name: "kept", State: admin.Held, Faults: []string{"there is no base URL"}, Held: &admin.HeldDocument{Digest: "d1gest"}}
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Gateway = f }), operateToken)
	page := b.get("/console").Body.String()
	if at := strings.Index(page, `id="attention"`); at < 0 || at > strings.Index(page, `class="figure"`) {
		t.Error("the problems are not first")
	}
	for _, p := range attentionOf(troubled()) {
		path, section, _ := strings.Cut(p.URL, "#")
		target := b.get(path)
		if target.Code != 200 || section != "" && !strings.Contains(target.Body.String(), `id="`+section+`"`) {
			t.Errorf("%s: %d, no section %q", p.URL, target.Code, section)
		}
	}
	if calm := signedIn(t, newTestConsole(t, nil), operateToken).get("/console").Body.String(); strings.Contains(calm, `id="attention"`) {
		t.Error("a gateway without problems has the section")
	}
}
