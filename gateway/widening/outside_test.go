package widening

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/config"
)

const outward = `server: {public_url: "https://mcp.example.com", seal_keys: [0123456789abcdef0123456789abcdef], tls: {cert_file: own.crt, key_file: own.key, client_ca_file: ca.crt}}
auth: {issuers: [{issuer: "https://idp.example.com"}], default_scopes: [read]}
identity: {key_files: [own.key]}
apis:
  - spec: a.yaml
    name: a
    base_url: https://a.example.com
    identity: {audience: a}
    credential: {type: token_exchange, token_url: "https://as.example.com/token", client_id: gateway, client_secret: one, audiences: [a]}
prompts: [{name: p, scopes: [admin], messages: [{text: t}]}]
skills: [{folder: guide, scopes: [admin]}]
state: {redis: {url: "rediss://redis.internal"}, closed: [consents, rates]}
audit: {file: audit.log}
`

// loadWith loads a configuration with a certificate of its own, and authorities of clients.
func loadWith(t *testing.T, text, authorities string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	writePair(t, filepath.Join(dir, "own.crt"), "certificate")
	writePair(t, filepath.Join(dir, "own.key"), "key")
	writePair(t, filepath.Join(dir, "ca.crt"), authorities)
	writeSkill(t, dir)
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	c.APIs[0].Spec, c.Audit.File = "a.yaml", config.File(filepath.Base(c.Audit.File.String())) // the same in all cases
	return c
}

// TestWiderOutside: in whose name calls go out, which clients get a connection, and where else data goes.
func TestWiderOutside(t *testing.T) {
	before := Of(loadWith(t, outward, "certificate"), nil)
	for _, tt := range []struct {
		name, from, to string
		want           string
	}{
		{"nothing", "", "", ""},
		{"a shared credential", "{type: token_exchange, token_url: \"https://as.example.com/token\", client_id: gateway, client_secret: one, audiences: [a]}", "{type: bearer, token: t}",
			"apis: a: calls reach the service in another name: credential was of type token_exchange and is of type bearer"},
		{"another client", "client_id: gateway", "client_id: admin", "credential is another"},
		{"another place for tokens", "as.example.com", "bs.example.com", "credential is another"},
		{"a new secret", "client_secret: one", "client_secret: two", ""},
		{"nobody is told of callers", "    identity: {audience: a}\n", "", "calls reach the service in another name: identity is gone"},
		{"another is told of callers", "{audience: a}", "{audience: b}", "identity is another"},
		{"one credential more", "    name: a\n", "    name: a\n    credentials: {x: {type: bearer, token: t}}\n", "credentials.x is new"},
		{"other authorities", "", "", "server.tls.client_ca_file: clients of other authorities are let in"},
		{"no certificates of clients", ", client_ca_file: ca.crt", "", "clients need no certificate any more"},
		{"no certificate", ", tls: {cert_file: own.crt, key_file: own.key, client_ca_file: ca.crt}", "", "server.tls: tokens and answers travel in clear"},
		{"all interfaces", "server: {", "server: {listen: '0.0.0.0:8080', ", "server.listen: other machines reach the gateway"},
		{"all interfaces for operators", "auth:", "admin: {listen: '0.0.0.0:9090'}\nauth:", "admin.listen: other machines"},
		{"requests of operators", "auth:", "admin: {token: 0123456789abcdef}\nauth:", "admin.token: requests can reload"},
		{"another Redis", "redis.internal", "other.internal", "state.redis: what the gateway knows of calls goes to another place"},
		{"answers in Redis", "redis.internal\"", "redis.internal\", answers: true", "state.redis.answers"},
		{"consents without Redis", "[consents, rates]", "[rates]", "state.closed: calls go on without Redis that were refused"},
		{"rates without Redis", "[consents, rates]", "[consents]", ""},
		{"traces", "audit:", "telemetry: {otlp_endpoint: \"https://traces.example.com\"}\naudit:", "telemetry.otlp_endpoint"},
		{"another audit log", "audit.log", "other.log", "audit.file"},
		{"an audit log that drops lines", "audit.log}", "audit.log, when_full: drop}", "audit: it does not tell of calls that it has no room for"},
		{"subjects in clear", "audit.log}", "audit.log, subject: plain}", "audit: it shows the subjects of tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, authorities := strings.Replace(outward, tt.from, tt.to, 1), "certificate"
			if tt.name == "other authorities" {
				authorities = "authorities"
			}
			got := Wider(before, Of(loadWith(t, text, authorities), before), nil)
			if tt.want == "" && len(got) > 0 || tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("opens %q, want %q", got, tt.want)
			}
			if tt.from != "" && text == outward {
				t.Error("the case changes nothing")
			}
		})
	}
}

// TestEntryComesBack: a prompt or a skill that a file lost is compared with what it was.
func TestEntryComesBack(t *testing.T) {
	for _, tt := range []struct{ list, name, scopes, none string }{
		{"prompts", "p", "name: p, scopes: [admin]", "name: p"},
		{"skills", "guide", "folder: guide, scopes: [admin]", "folder: guide"},
	} {
		first := Of(loadWith(t, outward, "certificate"), nil)
		without := Of(loadWith(t, strings.Replace(outward, tt.list+":", "#", 1), "certificate"), first)
		if got := Wider(first, without, nil); len(got) > 0 {
			t.Errorf("an entry of %s less opens %q", tt.list, got)
		}
		bare := Of(loadWith(t, strings.Replace(outward, tt.scopes, tt.none, 1), "certificate"), without)
		if got := Wider(without, bare, nil); len(got) != 1 || !strings.Contains(got[0], tt.list+`: of "`+tt.name+`", the scope "read" suffices where the scope "admin" was needed`) {
			t.Errorf("the entry of %s without its scopes opens %q", tt.list, got)
		}
		if got := Wider(without, Of(loadWith(t, outward, "certificate"), without), nil); len(got) > 0 {
			t.Errorf("the entry of %s as it was opens %q", tt.list, got)
		}
	}
}

// TestRecordOfEarlierVersion: keys that a record doesn't know, because its version did not compare them, open nothing, and those that it has are
// compared as ever. A record of another format is unknown as a whole.
func TestRecordOfEarlierVersion(t *testing.T) {
	last := Of(loadWith(t, outward, "certificate"), nil)
	last.Keys = maps.Clone(last.Keys)
	for _, key := range []string{"server.tls", "joint.local", "joint.audited", "apis.base_url"} {
		if last.Keys[key] == "" && key != "apis.base_url" {
			t.Fatalf("no key %s", key)
		}
		delete(last.Keys, key)
	}
	path := filepath.Join(t.TempDir(), "record")
	if err := last.Write(path); err != nil {
		t.Fatal(err)
	}
	last, err := ReadRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	unknown := strings.NewReplacer("server: {", "server: {listen: '0.0.0.0:8080', ", "a.example.com", "b.example.com", "audit.log}", "audit.log, when_full: drop}").Replace(outward)
	if got := Wider(last, Of(loadWith(t, unknown, "certificate"), last), nil); len(got) > 0 {
		t.Errorf("keys that the record doesn't know open %q", got)
	}
	open := strings.Replace(outward, ", client_ca_file: ca.crt", "", 1)
	if got := Wider(last, Of(loadWith(t, open, "certificate"), last), nil); len(got) == 0 {
		t.Error("keys that the record knows open nothing")
	}
	for text, want := range map[string]string{
		`{"version":1,"summary":{"auth":{"issuers":[{"url":"https://idp.example.com"}]},"hosts":["a"],"local":true,"apis":[{"name":"a","rules":[{"match":""}]}]}}`: "it is of version 1, and",
		`{"version":2,"summary":{"config":null,"gone_prompts":{"prompts":["p"]},"apis":[]}}`:                                                                       "it names no keys",
		`{"version":2}`: "damaged",
	} {
		if _, err := parseRecord([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
