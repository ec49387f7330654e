package gateway_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// foreignServer counts the connections to an address that is not granted.
func foreignServer(t *testing.T) (url string, connections *atomic.Int64) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("there is one loopback address only: ", err)
	}
	connections = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"access_token":"x","token_type":"bearer"}`))
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, connections
}

// theft is a file of team a, in which OWN and FOREIGN are the URLs of two servers. want is the error: the line, and after % the rest.
type theft struct{ name, team, want string }

// runTheft runs a gateway with a harmless file of the team and returns it with a function that replaces the file.
func runTheft(t *testing.T) (r *gatewaytest.Running, replace func(team string), connections *atomic.Int64) {
	foreign, connections := foreignServer(t)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" || r.URL.Path == "/moves/anne" {
			http.Redirect(w, r, foreign+"/doc.yaml", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(own.Close)
	r = gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": teamsMain, "core.yaml": gatewaytest.Document("Core", "core"), "secret": "secret-of-payments",
		"teams/a.yaml": teamFile("a", ""), "teams/a/doc.yaml": gatewaytest.Document("A", "anne"), "teams/a/refers.yaml": strings.ReplaceAll(refers, "FOREIGN", foreign),
		"teams/b.yaml": teamFile("b", ""), "teams/b/doc.yaml": gatewaytest.Document("B", "bert"),
	})
	r.Eventually("three APIs", func() bool { return len(r.Tools()) == 3 })
	return r, func(team string) {
		r.Write(map[string]string{"teams/a.yaml": strings.NewReplacer("OWN", own.URL, "FOREIGN", foreign).Replace(team)})
	}, connections
}

const refers = `openapi: 3.1.0
info: {title: A, version: '1'}
paths:
  /anne: {get: {operationId: anne, parameters: [{$ref: 'FOREIGN/p.yaml#/p'}], responses: {'200': {description: ok}}}}
`

// TestTheftOfReferences: a reload, which an operator requests, with a file that refers to what is not granted is refused at the place in this file,
// whose APIs stay as they were.
func TestTheftOfReferences(t *testing.T) {
	r, replace, connections := runTheft(t)
	for _, tt := range []theft{
		{"a variable", "apis: [{spec: a/doc.yaml, name: a-api, base_url: 'FOREIGN', credential: {type: bearer, token: '${PAYMENTS_TOKEN}'}}]", "1:%: apis[0].credential.token: ${PAYMENTS_TOKEN}: the environment variable is not granted"},
		{"a secret file", "apis: [{spec: a/doc.yaml, name: a-api, credential: {type: bearer, token: '${file:../secret}'}}]", "1:%: apis[0].credential.token: ${file:../secret}: is not granted"},
		{"an anchor", "rules: [{match: {path: /anne}, set: {title: &x '${PAYMENTS_TOKEN}'}}]\napis: [{spec: a/doc.yaml, name: a-api, base_url: 'OWN', credential: {type: bearer, token: *x}}]", "2:%: apis[0].credential.token: ${PAYMENTS_TOKEN}: the environment variable is not granted"},
		{"a merge key", "apis: [&x {spec: a/doc.yaml, name: a-api}, {<<: *x, name: core}]", "1:%: apis[1].<<: merge keys are not supported"},
		{"an anchor of the main file", "apis: [{spec: a/doc.yaml, name: a-api, credential: *core}]", "1:%: "},
		{"another document in the file", "apis: []\n---\nserver: {listen: 127.0.0.1:1}\n", "3:1: begins a second YAML document"},
		{"an include", "include: [{files: '../*.yaml', name_prefix: core, allow_addresses: [0.0.0.0/0]}]", "1:1: include: unknown key here"},
		{"a directory", "apis: [{spec: a, name: a-api}]", "1:%: apis[0].spec: can't be a directory"},
		{"a pattern of documents", "apis: [{spec: 'a/../*.yaml', name: a-api}]", "1:%: apis[0].spec: "},
		{"another API", "apis: [{spec: a/doc.yaml, name: a-api}]\nrules: [{match: {api: 'core'}, set: {scopes: [x]}}]", "2:%: rules[0].match.api: matches no API of these files"},
		{"the name of another API", "apis: [{spec: a/doc.yaml, name: b-api}]", "1:%: apis[0].name: \"b-api\" is not granted"},
		{"the name of another API in capitals", "apis: [{spec: a/doc.yaml, name: A-api}, {spec: a/doc.yaml, name: a-api}]", "1:%: apis[0].name: \"A-api\" is not granted"},
		{"the name of a tool of another API", "apis: [{spec: a/doc.yaml, name: a-api}]\nrules: [{match: {path: /anne}, set: {name: core_core}}]", "2:%: rules[0].set.name: \"core_core\" is not granted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replace(tt.team)
			err := r.Reload(t.Context())
			if err == nil {
				t.Fatalf("the file is in use")
			}
			before, after, _ := strings.Cut(tt.want, "%")
			line := ""
			for l := range strings.Lines(err.Error()) {
				if strings.HasPrefix(l, filepath.Join(r.Dir, "teams/a.yaml:")+before) && strings.Contains(l, after) {
					line = l
				}
			}
			if line == "" || strings.Contains(err.Error(), "secret-of-payments") {
				t.Errorf("Reload = %v\nwant teams/a.yaml:%s", err, tt.want)
			}
			if len(r.Tools()) != 3 || connections.Load() > 0 {
				t.Errorf("tools %q; %d connections", r.Tools(), connections.Load())
			}
		})
	}
}

// TestTheftByAddress: a file of a team loads whose services are at an address that is not granted, and nothing connects to it: neither for the document,
// what it refers to or is redirected to, nor for calls and their tokens.
func TestTheftByAddress(t *testing.T) {
	refused := func(a admin.API) bool { return a.Error != "" || a.Problems > 0 }
	for _, tt := range []struct {
		name, api string
		refused   func(a admin.API) bool // nil if a call tells
	}{
		{"document", "spec: 'FOREIGN/doc.yaml'", refused},
		{"redirect of a document", "spec: 'OWN/moved'", refused},
		{"reference of a document", "spec: a/refers.yaml, allow_refs: ['FOREIGN'], base_url: 'OWN'", refused},
		{"overlay", "spec: a/doc.yaml, base_url: 'OWN', overlays: ['FOREIGN/o.yaml']", refused},
		{"service", "spec: a/doc.yaml, base_url: 'FOREIGN'", nil},
		{"redirect of a call", "spec: a/doc.yaml, base_url: 'OWN/moves', follow_redirects: same_origin", nil},
		{"token URL", "spec: a/doc.yaml, base_url: 'OWN', credential: {type: client_credentials, token_url: 'FOREIGN/token', client_id: x, client_secret: y}", nil},
		{"redirect of a token URL", "spec: a/doc.yaml, base_url: 'OWN', credential: {type: client_credentials, token_url: 'OWN/moved', client_id: x, client_secret: y}", nil},
		{"login", "spec: a/doc.yaml, base_url: 'OWN', credential: {type: login, username: x, password: y, login: {url: 'FOREIGN/login', token_pointer: /access_token}}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, replace, connections := runTheft(t)
			replace("apis: [{name: a-api, " + tt.api + "}]")
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if tt.refused != nil {
				r.Eventually("the address is refused", func() bool { return tt.refused(r.State(1)) })
			} else if answer, err := gatewaytest.CallAsOperator(t.Context(), r.Gateway, "a-api_anne", json.RawMessage("{}")); err == nil && !strings.Contains(string(answer), `"isError":true`) {
				t.Errorf("the call succeeds: %s", answer)
			}
			if n := connections.Load(); n > 0 {
				t.Errorf("%d connections to an address that is not granted", n)
			}
		})
	}
}

// TestTheftByLinks replaces files that an API of a team uses by links that lead out of its folder, while the gateway runs: a reload reads none of them.
func TestTheftByLinks(t *testing.T) {
	r, replace, _ := runTheft(t)
	for _, tt := range []struct{ name, files, key string }{
		{"token", "credential: {type: bearer, token: '${file:a/x}'}", "apis[0].credential.token"},
		{"document", "", "apis[0].spec"},
		{"overlay", "overlays: [a/x]", "apis[0].overlays[0]"},
		{"CA", "ca_file: a/x", "apis[0].ca_file"},
		{"certificate", "client_certificate: {cert_file: a/x, key_file: a/x}", "apis[0].client_certificate.cert_file"},
		{"key", "credential: {type: jwt_assertion, token_url: 'OWN/token', issuer: x, key_file: a/x, audiences: [x]}", "apis[0].credential.key_file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			link := filepath.Join(r.Dir, "teams/a/x")
			_ = os.Remove(link)
			spec := "a/doc.yaml"
			if tt.files == "" {
				spec, tt.files = "a/x", "max_loss: 100"
			}
			replace("apis: [{spec: " + spec + ", name: a-api, base_url: 'OWN', " + tt.files + "}]")
			if err := os.Symlink(filepath.Join(r.Dir, "secret"), link); err != nil {
				t.Fatal(err)
			}
			err := r.Reload(t.Context())
			if err == nil || !strings.Contains(err.Error(), filepath.Join(r.Dir, "teams/a.yaml:1:")) || !strings.Contains(err.Error(), tt.key+": ") || strings.Contains(err.Error(), "secret-of-payments") {
				t.Errorf("Reload = %v\nwant %s", err, tt.key)
			}
		})
	}
}
