package widening

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
)

// all has every key that is compared.
const all = `
server:
  listen: 127.0.0.1:8080
  public_urls: [https://mcp.example.com, https://mcp.internal]
  tls: {cert_file: tls.crt, key_file: tls.key, client_ca_file: tls.crt}
  trusted_proxies: [10.0.0.0/16]
  allowed_hosts: [a.internal]
  seal_keys: [0123456789abcdef0123456789abcdef]
  state_dir: state
  allowed_origins: ["https://app.example.com"]
admin: {listen: "127.0.0.1:9090", allowed_hosts: [ops.internal], token: 0123456789abcdef,
  console: {enabled: true, url: "https://ops.example.com", show_bodies: true, tokens: [{name: oncall, token: 0123456789abcdef0, role: operate}, {name: board, token: 0123456789abcdef1}],
    oidc: {issuer: "https://idp.example.com", client_id: console, client_secret: s, scopes: [groups], roles_claim: roles, ca_file: tls.crt, roles: {view: [staff], operate: [ops]}}}}
auth:
  issuers:
    - issuer: https://idp.example.com/realms/main
      preset: keycloak
      audiences: [x]
      client_ids: [app]
      require_client: true
      id_token_claims: [nonce]
      scope_claims: [scope]
      max_lifetime: 1h
      dpop: require
      login: {client_id: gateway, client_secret: secret}
      algorithms: [ES256]
      accept_typ: [JWT]
      skew: 1s
      ca_file: tls.crt
    - {issuer: "https://opaque.example.com", tokens: opaque, introspection: {endpoint: "https://opaque.example.com/ask", client_id: gateway, client_secret: secret}}
    - {issuer: "https://login.example.com/{tenantid}/v2.0", directories: [aaaabbbb-0000-cccc-1111-dddd2222eeee]}
  keys:
    - {name: ci, hash: "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", principal: p, groups: [g], scopes: [s], expires: 2127-01-01, addresses: [10.0.0.0/8]}
  default_scopes: [read]
  allow_unscoped: true
  implies: {admin: [read]}
  hide_unauthorized: true
  dpop_nonce: true
  shared_audience: true
  registration: {issuer: "https://opaque.example.com", client_id: gateway, redirect_hosts: [app.example.com]}
identity: {key_files: [tls.key]}
apis:
  - spec: a.yaml
    root: .
    overlays: [overlay.yaml]
    name: a
    base_url: https://a.example.com
    credential: {type: basic, username: gateway, password: secret}
    credentials:
      key: {type: api_key, in: header, name: X-Key, value: secret}
      aws: {type: aws_sigv4, access_key_id: id, secret_access_key: secret, region: eu-west-1, service: lambda}
      exchange:
        type: token_exchange
        token_url: https://as.example.com/token
        client_id: gateway
        client_secret: secret
        ca_file: tls.crt
        scopes: [s]
        resources: ["https://a.example.com"]
        audiences: [a]
        parameters: {p: v}
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt"
        requested_token_type: "urn:ietf:params:oauth:token-type:jwt"
        accept_audiences: [b]
      behalf:
        type: on_behalf_of
        token_url: https://as.example.com/token
        issuer: https://idp.example.com/realms/main
        client_id: gateway
        client_secret: secret
        scopes: [s]
      session:
        type: login
        username: gateway
        password: secret
        in: header
        name: X-Auth
        login: {url: /login, method: PUT, json: {user: "{{username}}", pass: "{{password}}"}, token_pointer: /token, scheme: Token}
      form:
        type: login
        username: gateway
        password: secret
        login: {url: /login, form: {user: "{{username}}", pass: "{{password}}"}, token_cookie: sid}
      header:
        type: login
        username: gateway
        password: secret
        login: {url: /login, token_header: X-Auth-Token}
      account: {type: authorization_code, authorize_url: "https://as.example.com/authorize", token_url: "https://as.example.com/token", revoke_url: "https://as.example.com/revoke", client_id: gateway, client_secret: secret}
      assertion:
        type: jwt_assertion
        token_url: https://as.example.com/token
        key_file: tls.key
        assertion: {issuer: i, subject: s, audience: a, claims: {c: v}}
    pass_headers: [{from: X-Theirs, to: X-Token}]
    request: {headers: {X-Tenant: {claim: tenant}, X-Kind: k, X-Secret: {secret: 0123456789abcdef}}, query: {v: "1"}}
    identity: {audience: a, header: X-Caller}
    client_certificate: {cert_file: tls.crt, key_file: tls.key}
    server_credentials: {"https://b.example.com": {type: bearer, token: secret}}
    tls: {server_name: a.internal, min_version: "1.3"}
    tools: {include: {tag: public}, exclude: {path: /x}}
    scopes_from_document: true
    scope_map: {d: [read]}
    server_variables: {v: x, w: {value: x}}
    slash_parameters: [p]
    drop_arguments: [q]
    rate: {rate: 10/s, burst: 10, per: principal}
    max_in_flight: 5
    answer_headers: [X-Total-Count]
    follow_redirects: same_origin
    ca_file: tls.crt
    allow_servers: ["https://b.example.com"]
    trust_extensions: true
    allow_refs: ["https://c.example.com"]
    allow_addresses: [10.0.0.0/8]
  - {spec: b.yaml, name: c, base_urls: {claim: tenant, allow: {acme: "https://acme.example.com"}, default: acme}}
  - {spec: b.yaml, name: d, server_variables: {v: {claim: tenant, allow: [acme], default: acme}, u: {argument: true, allow: [acme]}}}
  - {spec: b.yaml, name: b, proxy: {url: "https://u@proxy.internal", password: secret, no_proxy: x.internal, resolve: proxy, ca_file: tls.crt}, spec_proxy: {url: "http://proxy.internal"}, allow_refs: ["https://d.example.com"]}
discovery:
  - name: shop
    file: {paths: [targets.json]}
    services: {name: orders, namespace: shop, tag: t, labels: {tier: core}}
    api_name: "{provider}-x-{name}"
    credentials:
      - match: {name: orders}
        credential: {type: bearer, token: secret}
        credentials: {key: {type: api_key, in: header, name: X-Key, value: secret}}
        spec_credential: {type: bearer, token: secret}
        pass_headers: [{from: X-Theirs, to: X-Token}]
        request: {headers: {X-Kind: k}}
        identity: {audience: a}
        client_certificate: {cert_file: tls.crt, key_file: tls.key}
    api: {tools: {exclude: {path: /y}}}
    approve: hold
    allow_servers: ["https://d.example.com"]
    allow_addresses: [10.0.0.0/8]
  - name: registry
    http: {url: "https://registry.example.com", token: secret, ca_file: tls.crt}
  - name: cluster
    kubernetes: {namespaces: [shop], selector: mcp=enabled, kubeconfig: kubeconfig.yaml, context: c}
  - name: consul
    consul:
      {address: "https://consul.example.com", token: secret, ca_file: tls.crt, datacenter: dc1, namespace: shop, partition: eu, tags: [http], meta: {tier: core}}
  - name: docker
    docker: {host: "https://docker.example.com", network: shop_default, ca_file: tls.crt, cert_file: tls.crt, key_file: tls.key}
  - name: catalog
    api_catalog: {url: "https://catalog.example.com", ca_file: tls.crt}
  - name: dns
    dns: {names: [_http._tcp.orders.example.com], server: 10.0.0.53, scheme: https}
  - name: cse
    service_center: {address: "https://cse.example.com", project: p, application: shop, environment: production, ca_file: tls.crt, username: u, password: secret}
  - name: eureka
    eureka: {url: "https://eureka.example.com/eureka", ca_file: tls.crt, username: u, password: secret}
  - name: nacos
    nacos: {address: "https://nacos.example.com/nacos", namespace: shop, groups: [core], ca_file: tls.crt, username: u, password: secret}
tools:
  lock: approved.lock
  confirm: destructive
  unconfirmed: allow
  unconfirmed_scopes: [robot]
  drop_arguments: [r]
  callback_urls: ["https://app.example.com"]
  callback_secret: 0123456789abcdef
search: {embeddings: {url: "http://127.0.0.1:11434", model: m, token: secret, dimensions: 384}}
rules:
  - match: {api: a, tag: t, method: GET, path: /p, operation: o, deprecated: true, extension: x-e}
    set:
      arguments: {t: {value: acme}, u: {claim: org}, v: {secret: 0123456789abcdef}, w: {hidden: true}}
      scopes: [s]
      condition: args.n < 1
      rate: {rate: 1/s, burst: 3, per: principal}
      confirm: true
      inputs: [{key: k, arguments: [n], when: always}, {key: l, schema: {type: object, properties: {f: {type: string}}}, bind: {m: /f}, when: always}]
      sensitive_fields: {fields: [ssn], action: remove}
      validation: lenient
      annotations: {read_only: false, destructive: true, open_world: true, idempotent: false}
      job:
        status: {operation: s}
        result: {operation: r}
        cancel: {method: DELETE}
        links: true
        questions: {list: /q, answer: {operation: a, content: c}}
        callback: {signature: {header: X-Signature, secret: 0123456789abcdef}}
  - {match: {api: b, path: /shared}, set: {cache: {shared: true}}}
include: [{files: team/*.yaml, name_prefix: team-, env_prefix: TEAM_, folder: team, allow_addresses: [10.0.0.0/8]}]
endpoints: [{name: e, match: {path: /e}, default_scopes: [e]}]
workflows: [tls.crt]
prompts: [{name: p, scopes: [s], endpoints: [e], messages: [{text: t}]}]
skills: [{folder: guide, scopes: [s], endpoints: [e]}]
limits:
  max_calls: 100
  address_rate: {rate: 10/s, burst: 10}
  principal_rate: {rate: 10/s, burst: 10}
  principal_rates: [{match: {client_id: app, issuer: "https://idp.example.com/realms/main", subject: s, claims: {c: v}}, rate: 5/s, burst: 5, per: all}]
state:
  redis: {url: "rediss://127.0.0.1", ca_file: tls.crt, prefix: p, answers: true}
  closed: [consents]
proxy: {url: "http://proxy.internal", user: u, password: secret}
files: {capability_urls: true, pass: [{from: a, to: b}]}
telemetry: {otlp_endpoint: "http://127.0.0.1:4318", otlp_signals: [traces, metrics]}
audit: {otlp: true, subject: plain, fields: [/n], refusals: true}
`

// TestEveryKeyIsDecidedOn: each key of the configuration has a rule that this package knows, or a reason why it decides about no access. A key
// with a rule is in the summary, so that taking it away changes that.
func TestEveryKeyIsDecidedOn(t *testing.T) {
	k := &keys{t: t, declared: map[string]bool{}, compared: map[string]bool{}}
	k.declare(reflect.TypeFor[config.Config]())
	for _, text := range []string{all, strings.Replace(all, "audit: {otlp: true,", "audit: {file: audit.log,", 1)} { // one excludes the other
		k.c = loadWithPair(t, text)
		k.summary = summaryText(t, k.c)
		k.walk(reflect.ValueOf(k.c).Elem())
	}
	for _, key := range slices.Sorted(maps.Keys(k.declared)) {
		if k.declared[key] != k.compared[key] {
			t.Errorf("%s: is in the summary: %t, and its tag wants: %t; a key that is compared belongs into the configuration of this test", key, k.compared[key], k.declared[key])
		}
	}
}

func summaryText(t *testing.T, c *config.Config) string {
	t.Helper()
	text, err := json.Marshal(Of(c, nil))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keys finds out which keys are compared.
type keys struct {
	t                  *testing.T
	c                  *config.Config
	summary            string
	declared, compared map[string]bool // as Type.Field; declared: whether the tag wants that it is compared
}

// declare notes all keys that there are, below a type, and checks their tags.
func (k *keys) declare(section reflect.Type) {
	for _, key := range keysOf(section) {
		name := section.Name() + "." + key.field.Name
		if _, ok := k.declared[name]; ok {
			return
		}
		inner := below(key.field.Type)
		if key.has("none") {
			if _, reason, _ := strings.Cut(key.field.Tag.Get("access"), ": "); reason == "" {
				k.t.Errorf("%s: the tag access gives no reason", name)
			}
			k.declared[name] = false
			continue
		}
		for _, r := range key.rules {
			if !slices.Contains(knownRules, r.kind) {
				k.t.Errorf("%s: the rule %q is unknown", name, r.kind)
			}
		}
		if inner == nil {
			k.declared[name] = true
			if hasNoForm(key.field.Type) {
				k.t.Errorf("%s: a value of type %s has no text that could be compared", name, key.field.Type)
			}
			continue
		}
		k.declare(inner)
	}
}

var knownRules = []string{"any", "section", "each", "known", "grants", "restricts", "limit", "allows", "subset", "superset", "scopes", "joint", "with auth"}

// hasNoForm reports whether equal values of a type can't be told from others.
func hasNoForm(t reflect.Type) bool {
	hasText := func() bool { return t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) }
	for !hasText() && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !hasText() && t != reflect.TypeFor[config.APIDefaults]()
}

// walk takes away each value, or turns on what is off, one at a time, and sees whether the summary is another then.
func (k *keys) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			k.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			k.walk(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k.walk(v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("yaml") == "" || v.Field(i).IsZero() && f.Type.Kind() != reflect.Bool {
				continue
			}
			was := reflect.New(f.Type).Elem()
			was.Set(v.Field(i))
			if v.Field(i).IsZero() {
				v.Field(i).SetBool(true)
			} else {
				v.Field(i).SetZero()
			}
			if summaryText(k.t, k.c) != k.summary {
				k.compared[fmt.Sprint(v.Type().Name(), ".", f.Name)] = true
			}
			v.Field(i).Set(was)
			k.walk(v.Field(i))
		}
	default:
	}
}

// loadWithPair loads a configuration with a certificate and its key.
func loadWithPair(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	for name, from := range map[string]string{"tls.crt": "certificate", "tls.key": "key"} {
		writePair(t, filepath.Join(dir, name), from)
	}
	writeSkill(t, dir)
	file, team := filepath.Join(dir, "drawbridge.yaml"), filepath.Join(dir, "team", "a.yaml")
	if err := os.Mkdir(filepath.Dir(team), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: text, team: "apis: [{spec: https://team.example.com/openapi.json, name: team-a}]\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

// writeSkill writes the skill guide into a directory.
func writeSkill(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "guide"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "guide", "SKILL.md"), []byte("---\nname: guide\ndescription: d\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writePair writes the certificate, the key, or the authorities of clients of the configuration's own cases.
func writePair(t *testing.T, file, what string) {
	t.Helper()
	archive, err := os.ReadFile("../../config/testdata/tls.txtar")
	if err != nil {
		t.Fatal(err)
	}
	name := map[string]string{"certificate": "tls/good.pem", "key": "tls/good.key", "authorities": "tls/ca.pem"}[what]
	_, rest, _ := strings.Cut(string(archive), "-- "+name+" --\n")
	text, _, _ := strings.Cut(rest, "\n-- ")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
