package widening

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"drawbridge/config"
)

const base = `server: {public_url: "https://mcp.example.com", allowed_hosts: [a.internal], trusted_proxies: [10.0.0.0/16]}
auth:
  issuers: [{issuer: "https://idp.example.com", client_ids: [app], max_lifetime: 1h, dpop: require}]
  keys: [{name: ci, hash: "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", groups: [g], scopes: [read], expires: 2127-06-30, addresses: [10.0.0.0/16]}, {name: open, hash: "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}]
  default_scopes: [read, more]
  hide_unauthorized: true
apis:
  - {spec: a.yaml, name: a, base_url: "https://a.example.com/v1", tools: {exclude: {path: /x}}}
limits: {principal_rate: {rate: 10/s, burst: 20}, principal_rates: [{match: {client_id: app}, rate: 5/s, per: all}]}
tools: {confirm: destructive, drop_arguments: [toolCallId]}
rules:
  - {match: {path: /pay}, set: {scopes: [pay], confirm: true, condition: "args.n < 1000"}}
  - {match: {path: /slow}, set: {rate: {rate: 10/m, burst: 2}}}
`

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	return loadOr(t, text, func(problems any) { t.Fatal(problems) })
}

// loadOr loads a configuration, and returns nil after failed if it has errors.
func loadOr(t *testing.T, text string, failed func(problems any)) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		failed(problems)
		return nil
	}
	// Locations are relative to the file, and are to be the same in all cases.
	for i := range c.APIs {
		c.APIs[i].Spec = config.Location(filepath.Base(c.APIs[i].Spec.String()))
	}
	return c
}

// TestWider changes one thing at a time, as it stands in the file.
func TestWider(t *testing.T) {
	before := Of(load(t, base), nil)
	for _, tt := range []struct {
		name, from, to string
		want           string // part of the one line; "": it is not wider
	}{
		{"nothing", "", "", ""},
		{"an issuer", "issuers: [", `issuers: [{issuer: "https://other.example.com"}, `, "auth.issuers: tokens of https://other.example.com are accepted"},
		{"an audience", "client_ids: [app]", "client_ids: [app], audiences: [x, \"https://mcp.example.com/mcp\"]", `tokens for the audience "x" are accepted`},
		{"a client", "[app]", "[app, b]", "client_ids accepts tokens of clients"},
		{"all clients", "client_ids: [app], ", "", "client_ids accepts tokens of clients"},
		{"a longer lifetime", "max_lifetime: 1h", "max_lifetime: 2h", "longer lifetime"},
		{"a shorter lifetime", "max_lifetime: 1h", "max_lifetime: 30m", ""},
		{"tokens without a proof", "dpop: require", "dpop: accept", "dpop: accept accepts tokens that require refused"},
		{"another typ", "client_ids: [app]", "client_ids: [app], accept_typ: [JWT]", "accept_typ accepts more kinds"},
		{"a key", "keys: [", `keys: [{name: other, hash: "sha256:1111111111111111111111111111111111111111111111111111111111111111"}, `, `auth.keys: the key "other" is accepted`},
		{"a key less", `, {name: open, hash: "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`, "", ""},
		{"another hash", `hash: "sha256:a`, `hash: "sha256:c`, `auth.keys: of "ci", another key is accepted`},
		{"a second hash", `hash: "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`, `hash: ["sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "sha256:1111111111111111111111111111111111111111111111111111111111111111"]}`, `auth.keys: of "open", another key is accepted`},
		{"a principal of a key", "groups: [g], ", "groups: [g], principal: alice, ", "another principal"},
		{"a group of a key", "groups: [g]", "groups: [g, h]", `the caller belongs to the group "h"`},
		{"no groups of a key", "groups: [g], ", "", ""},
		{"a scope of a key", "scopes: [read],", "scopes: [read, pay],", `of "ci", the key has the scope "pay"`},
		{"no scopes of a key", "scopes: [read], ", "", ""},
		{"a later expiry", "2127-06-30", "2127-07-01", "it is accepted for longer"},
		{"no expiry", "expires: 2127-06-30, ", "", "it is accepted for longer"},
		{"an earlier expiry", "2127-06-30", "2127-06-29", ""},
		{"an expiry", `sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`, `sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", expires: 2127-06-30}`, ""},
		{"more addresses", "addresses: [10.0.0.0/16]", "addresses: [10.0.0.0/16, 192.0.2.7]", `of "ci", it is accepted from 192.0.2.7`},
		{"a wider network", "addresses: [10.0.0.0/16]", "addresses: [10.0.0.0/8]", "it is accepted from 10.0.0.0/8"},
		{"a narrower network", "addresses: [10.0.0.0/16]", "addresses: [10.0.0.0/24]", ""},
		{"all addresses", ", addresses: [10.0.0.0/16]", "", "it is accepted from all addresses"},
		{"first addresses", `sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`, `sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", addresses: [10.0.0.0/16]}`, ""},
		{"a default scope less", "[read, more]", "[read]", `auth.default_scopes: the scope "read" suffices where the scopes ["read" "more"] was needed`},
		{"a default scope more", "[read, more]", "[read, more, third]", ""},
		{"unscoped", "  hide_un", "  allow_unscoped: true\n  hide_un", "auth.allow_unscoped"},
		{"everything is shown", "  hide_unauthorized: true\n", "", "auth.hide_unauthorized"},
		{"an implication", "  hide_un", "  implies: {low: [pay]}\n  hide_un", `the scope "low" grants "pay"`},
		{"a host", "[a.internal]", "[a.internal, b.internal]", `server.allowed_hosts: requests for the host "b.internal"`},
		{"a port of a host", "[a.internal]", "[\"a.internal:1\"]", ""},
		{"an origin", "allowed_hosts", "allowed_origins: [\"https://app.example.com\"], allowed_hosts", "server.allowed_origins"},
		{"a wider proxy", "trusted_proxies: [10.0.0.0/16", "trusted_proxies: [10.0.0.0/8", "server.trusted_proxies"},
		{"a narrower proxy", "10.0.0.0/16", "10.0.0.0/24", ""},
		{"no consent", "confirm: destructive, ", "", "tools.confirm"},
		{"consent without asking", "confirm: destructive", "confirm: destructive, unconfirmed: allow", "tools.unconfirmed"},
		{"exempt callers", "confirm: destructive", "confirm: destructive, unconfirmed_scopes: [robot]", "tools.unconfirmed_scopes"},
		{"no exclusion", ", tools: {exclude: {path: /x}}", "", "tools.include and tools.exclude let calls through of operations that match {path: \"/x\"}"},
		{"another place", "a.example.com/v1", "a.example.com/v", "calls go to another place"},
		{"no rules", "rules:", "#", "no consent is needed for calls of operations that match {path: \"/pay\"}"},
		{"no scopes of a rule", "scopes: [pay], ", "", "fewer or other scopes suffice for calls of operations that match {path: \"/pay\"}"},
		{"more scopes of a rule", "[pay]", "[pay, more]", ""},
		{"another condition", "< 1000", "< 10000", "a condition is gone or another, for calls of operations that match {path: \"/pay\"}"},
		{"another selector", "path: /pay}", "path: /pays}", "no consent is needed for calls of operations that match {path: \"/pay\"}"},
		{"one more rule that restricts", "rules:\n", "rules:\n  - {match: {path: /y}, set: {confirm: true}}\n", ""},
		{"one more rule that takes back", "rules:\n", "rules:\n  - {match: {path: /y}, set: {confirm: false}}\n", "no consent is needed for calls of operations that match {path: \"/y\"}"},
		{"a new API", "apis:\n", "apis:\n  - {spec: b.yaml, name: b}\n", ""},
		{"another API in its place", "{spec: a.yaml, name: a,", "{spec: b.yaml, name: b,", "it comes in the place of another"},
		{"another document", "{spec: a.yaml,", "{spec: a.yam,", "the document is another"},
		{"the same document again", "apis:\n", "apis:\n  - {spec: a.yaml, name: b}\n", "apis: b: "},
		{"the same document, of the same service", "apis:\n", "apis:\n  - {spec: a.yaml, name: b, base_url: \"https://a.example.com/v1\"}\n", "apis: b: "},
		{"the same document, of another service", "apis:\n", "apis:\n  - {spec: a.yaml, name: b, base_url: \"https://b.example.com/v1\"}\n", ""},
		{"another service in its place", "name: a, base_url: \"https://a.", "name: b, base_url: \"https://b.", "calls go to another place"},
		{"slashes in a path parameter", "name: a,", "name: a, slash_parameters: [x],", "slash_parameters"},
		{"more headers of answers", "name: a,", "name: a, answer_headers: [X-Total-Count],", "answer_headers"},
		{"arguments that are not dropped any more", "name: a,", "name: a, drop_arguments: [],", "drop_arguments lets more arguments through"},
		{"other arguments that are dropped", "name: a,", "name: a, drop_arguments: [sessionId],", "drop_arguments lets more arguments through"},
		{"more arguments that are dropped", "name: a,", "name: a, drop_arguments: [sessionId, toolCallId],", ""},
		{"redirects that are followed", "name: a,", "name: a, follow_redirects: same_origin,", "follow_redirects"},
		{"slashes that are rejected", "name: a,", "name: a, slash_parameters: [{name: x, as: rejected}],", ""},
		{"encoded slashes in a path parameter", "name: a,", "name: a, slash_parameters: [{name: x, as: encoded}],", "slash_parameters"},
		{"extensions of the document", "name: a,", "name: a, trust_extensions: true,", "trust_extensions"},
		{"files beside the document's folder", "name: a,", "name: a, root: .,", "root lets the document take parts from other files"},
		{"no rate", "rate: {rate: 10/m, burst: 2}", "timeout: 9s", "rate is gone or allows more calls of operations that match {path: \"/slow\"}"},
		{"a rate that is off", "rate: {rate: 10/m, burst: 2}", "rate: \"off\"", "rate is gone or allows more calls"},
		{"a higher rate", "10/m", "11/m", "rate is gone or allows more calls"},
		{"a higher burst", "burst: 2}}}", "burst: 3}}}", "rate is gone or allows more calls"},
		{"a rate for each principal", "burst: 2}}}", "burst: 2, per: principal}}}", "rate is gone or allows more calls"},
		{"a lower rate", "10/m", "9/m", ""},
		{"an equal rate", "10/m", "600/h", ""},
		{"a rate of the API", "name: a,", "name: a, rate: {rate: 1/s},", ""},
		{"more concurrent calls", "name: a,", "name: a, max_in_flight: 65,", "max_in_flight lets more calls run at once"},
		{"fewer concurrent calls", "name: a,", "name: a, max_in_flight: 6,", ""},
		{"more calls", "limits: {", "limits: {max_calls: 5000, ", "limits.max_calls"},
		{"a higher rate of addresses", "limits: {", "limits: {address_rate: {rate: 1000/s}, ", "limits.address_rate"},
		{"a lower rate of addresses", "limits: {", "limits: {address_rate: {rate: 10/s, burst: 20}, ", ""},
		{"a higher rate of principals", "10/s, burst: 20", "11/s, burst: 20", "limits.principal_rate"},
		{"no rate of principals", "principal_rate: {rate: 10/s, burst: 20}", "principal_rate: \"off\"", "limits.principal_rate"},
		{"a higher rate of one principal", "rate: 5/s, per", "rate: 6/s, per", "limits.principal_rates"},
		{"no rate of one principal", ", principal_rates: [{match: {client_id: app}, rate: 5/s, per: all}]", "", "limits.principal_rates"},
		{"a rate of another principal", "{client_id: app}", "{client_id: b}", "limits.principal_rates"},
		{"a lower rate of one more principal", "principal_rates: [", "principal_rates: [{match: {client_id: b}, rate: 1/s, per: all}, ", ""},
		{"a higher rate of one more principal", "principal_rates: [", "principal_rates: [{match: {client_id: b}, rate: 7/s}, ", "limits.principal_rates"},
		{"a lower rate behind", "rate: 5/s, per: all}", "rate: 5/s, per: all}, {match: {client_id: b}, rate: 7/s}", ""},
		{"an endpoint", "tools: {c", "endpoints: [{name: a}]\ntools: {c", `tokens for the endpoint "a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(base, tt.from, tt.to, 1)
			if tt.name == "no rules" {
				text, _, _ = strings.Cut(base, "rules:")
			}
			got := Wider(before, Of(load(t, text), before), nil)
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("opens %q, want %q", got, tt.want)
			}
			if tt.from != "" && text == base {
				t.Error("the case changes nothing")
			}
		})
	}
}

// TestRejectedSlashes: slashes that were rejected are left to the document.
func TestRejectedSlashes(t *testing.T) {
	old := Of(load(t, strings.Replace(base, "name: a,", "name: a, slash_parameters: [{name: x, as: rejected}],", 1)), nil)
	if got := Wider(old, Of(load(t, base), old), nil); len(got) != 1 || !strings.Contains(got[0], "slash_parameters rejects fewer slashes") {
		t.Errorf("opens %q", got)
	}
}

// TestSharedAudience: tokens for one URL begin to be accepted at another.
func TestSharedAudience(t *testing.T) {
	two := strings.Replace(base, `public_url: "https://mcp.example.com"`, `public_urls: ["https://mcp.example.com", "https://mcp.internal"]`, 1)
	shared := strings.Replace(two, "  hide_un", "  shared_audience: true\n  hide_un", 1)
	old, next := Of(load(t, two), nil), Of(load(t, shared), nil)
	if got := Wider(old, next, nil); len(got) != 1 || !strings.HasPrefix(got[0], "auth.shared_audience") {
		t.Errorf("shared_audience opens %q", got)
	}
	if got := Wider(next, old, nil); len(got) != 0 {
		t.Errorf("without shared_audience: %q", got)
	}
	if got := strings.Join(Wider(Of(load(t, base), nil), old, nil), "\n"); !strings.Contains(got, `the host "mcp.internal"`) || !strings.Contains(got, `the audience "https://mcp.internal/mcp"`) {
		t.Errorf("another URL opens %q", got)
	}
}

// TestAPIComesBack: an API that a file lost with its rules is compared with what it was.
func TestAPIComesBack(t *testing.T) {
	two := base + "  - {match: {api: b, path: /y}, set: {confirm: true}}\n"
	two = strings.Replace(two, "apis:\n", "apis:\n  - {spec: b.yaml, name: b, tools: {exclude: {path: /z}}}\n", 1)
	first := Of(load(t, two), nil)
	without := Of(load(t, base), first)
	if got := Wider(first, without, nil); len(got) != 0 {
		t.Errorf("an API less opens %q", got)
	}
	bare := Of(load(t, strings.Replace(base, "apis:\n", "apis:\n  - {spec: b.yaml, name: b}\n", 1)), without)
	if got := Wider(without, bare, nil); len(got) != 2 {
		t.Errorf("the API without its restrictions opens %q", got)
	}
	if got := Wider(without, Of(load(t, two), without), nil); len(got) != 0 {
		t.Errorf("the API as it was opens %q", got)
	}
}

// TestRecord: what is written is read again, holds no secret, and a file that is cut anywhere is not read.
func TestRecord(t *testing.T) {
	s := Of(load(t, strings.Replace(base, "name: a,", `name: a, credential: {type: bearer, token: very-secret-token},`, 1)), nil)
	path := RecordFile(filepath.Join(t.TempDir(), "state"), "drawbridge.yaml")
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadRecord(path)
	if err != nil || len(Wider(s, read, nil)) > 0 || len(Wider(read, s, nil)) > 0 {
		t.Fatalf("read: %v, %v, %v", err, Wider(s, read, nil), Wider(read, s, nil))
	}
	if !reflect.DeepEqual(read.APIs, s.APIs) {
		t.Errorf("APIs: %+v, want %+v", read.APIs, s.APIs)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"very-secret", "a.example.com", "args.n"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the record holds %q", secret)
		}
	}
	for n := range text {
		if _, err := parseRecord(text[:n]); err == nil {
			t.Fatalf("the record is read when it is cut at %d", n)
		}
	}
}
