package widening

import (
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
      algorithms: [ES256]
      accept_typ: [JWT]
      skew: 1s
      ca_file: tls.crt
    - {issuer: "https://opaque.example.com", tokens: opaque, introspection: {endpoint: "https://opaque.example.com/ask", client_id: gateway, client_secret: secret}}
  default_scopes: [read]
  allow_unscoped: true
  implies: {admin: [read]}
  hide_unauthorized: true
  dpop_nonce: true
  shared_audience: true
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
    server_variables: {v: x}
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
      annotations: {read_only: false, destructive: true, open_world: true, idempotent: false}
      job:
        status: {operation: s}
        result: {operation: r}
        cancel: {method: DELETE}
        links: true
        questions: {list: /q, answer: {operation: a, content: c}}
        callback: {signature: {header: X-Signature, secret: 0123456789abcdef}}
  - {match: {api: b, path: /shared}, set: {cache: {shared: true}}}
endpoints: [{name: e, match: {path: /e}, default_scopes: [e]}]
prompts: [{name: p, scopes: [s], endpoints: [e], messages: [{text: t}]}]
limits:
  max_calls: 100
  address_rate: {rate: 10/s, burst: 10}
  principal_rate: {rate: 10/s, burst: 10}
  principal_rates: [{match: {client_id: app, issuer: "https://idp.example.com/realms/main", subject: s, claims: {c: v}}, rate: 5/s, burst: 5, per: all}]
state:
  redis: {url: "rediss://127.0.0.1", ca_file: tls.crt, prefix: p, answers: true}
  closed: [consents]
proxy: {url: "http://proxy.internal", user: u, password: secret}
telemetry: {otlp_endpoint: "http://127.0.0.1:4318"}
audit: {file: audit.log, subject: plain, fields: [/n], refusals: true}
`

// uncompared are the keys, or all keys of a type, that decide neither who may do what nor where data and credentials go, or that nothing can be told of, with
// the reason. A key that is new belongs here, or into the summary and into all.
var uncompared = map[string]string{
	"Limits.MaxBody": "limits bound what a call costs", "Limits.MaxDepth": "limits bound what a call costs", "Limits.MaxStreams": "limits bound what a stream costs",
	"Limits.MaxStreamsPerCaller": "limits bound what a stream costs", "Limits.MaxStreamAge": "limits bound what a stream costs",
	"Limits.MaxConnections": "limits bound what a connection costs", "Limits.MaxConnectionsPerAddress": "limits bound what a connection costs",
	"Limits.MaxHeader": "limits bound what a call costs", "Limits.Timeout": "limits bound what a call costs", "Limits.ConnectTimeout": "limits bound what a call costs",
	"Limits.TLSTimeout": "limits bound what a call costs", "Limits.FirstByteTimeout": "limits bound what a call costs",
	"Limits.MaxInFlight": "the default of apis[].max_in_flight, which is compared", "Limits.MaxQueued": "calls that wait reach no service",
	"Limits.QueueTimeout": "calls that wait reach no service", "Limits.ConnectionAge": "how connections are reused", "Limits.MaxAnswer": "limits bound what a call costs",
	"Limits.MaxResultTokens": "less of an answer that its caller gets anyway", "Limits.MaxResultBinary": "a link leads to the answer that its caller would have got",
	"Limits.MaxRatio": "limits bound what a call costs", "Limits.Cache": "limits bound what a call costs", "Limits.MaxSpec": "limits bound what a document costs",
	"Limits.MaxSchema": "the form of lists", "Limits.SpecTimeout": "when documents are read", "Limits.MaxLoss": "a limit, which documents are held by",
	"Limits.MaxOperations": "limits bound what a document costs",
	"Breaker":              "limits bound what a call costs",
	"Retries":              "limits bound what a call costs",
	"Progress":             "callers see of it what they get in the end",
	"Resource":             "a resource needs what the call of its operation needs",
	"Links":                "a link leads to the answer that its caller would have got",
	"JobStates":            "words for states decide nothing but when a job has ended",
	"TLS.CertFile":         "the gateway's own certificate is renewed", "TLS.KeyFile": "the gateway's own certificate is renewed",
	"ClientCertificate.KeyFile": "it belongs to the certificate",
	"Identity":                  "keys are rotated, and services know them; apis[].identity decides who is told",

	"Proxy.User": "who the gateway is to it", "Proxy.Password": "secrets are rotated", "Proxy.NoProxy": "the proxy is the same, and what it does not get is checked as always",
	"Issuer.Proxy": "its keys are fetched over TLS", "Credential.Proxy": "tokens are fetched over TLS",

	"Server.SealKeys": "keys are rotated", "Server.SealKeyFile": "keys are rotated",
	"Info": "words for clients", "Server.Instructions": "words for models", "Server.PageSize": "how lists are sent", "Server.KeepAlive": "how streams are sent",
	"Server.ShutdownDelay": "how the process ends", "Server.DrainTimeout": "how the process ends", "Server.LegacyDisconnect": "when a call ends",
	"Server.SessionLife":  "a session is no authentication: the token is checked with each request",
	"Server.Sessionless":  "another form of the same requests, with the same checks",
	"Server.OldTransport": "another form of the same requests, with the same checks", "Server.Manifest": "it shows what the lists show, to those who get these",
	"Server.StateDir": "it holds documents and the record itself", "Ready.APIs": "when the gateway serves, not whom", "Ready.WithoutAudit": "whether it counts as ready, while no call is made", "Server.StrictSecrets": "a check of the file",

	"Introspection.ClientID": "who asks the issuer", "Introspection.ClientSecret": "secrets are rotated", "Introspection.ClientAuth": "how the secret is sent",
	"Introspection.Rate": "rates bound what a call costs",

	"API.Refresh": "when documents are read", "API.SpecTimeout": "when documents are read", "API.MaxLoss": "a limit, which documents are held by",
	"API.SpecCredential": "it goes to the place of the document alone, and callers get nothing by it",
	"API.SchemaProfile":  "the form of lists", "API.OutputSchemas": "the form of lists", "API.Answers": "the form of answers", "API.HTML": "the form of answers",
	"API.Clean": "the form of answers", "API.Timeout": "limits bound what a call costs", "API.MaxQueued": "calls that wait reach no service",
	"API.QueueTimeout": "calls that wait reach no service", "API.MaxAnswer": "limits bound what a call costs",

	"Credential.Token": "secrets are rotated, and nothing tells a new token of somebody else from a new token", "Credential.Password": "secrets are rotated",
	"Credential.Value": "secrets are rotated", "Credential.SecretAccessKey": "secrets are rotated", "Credential.SessionToken": "secrets are rotated",
	"Credential.AccessKeyID": "it is rotated with its secret", "Credential.ClientSecret": "secrets are rotated",
	"Credential.ClientAuth": "how the gateway proves itself, not as whom", "Credential.KeyFile": "keys are rotated", "Credential.KeyID": "keys are rotated",
	"Credential.KeyAlgorithm": "keys are rotated", "Credential.CertFile": "certificates are renewed", "Assertion.Lifetime": "how long one assertion is good",

	"Tools.Prefix": "names of tools", "Tools.MaxName": "names of tools", "Tools.DeprecatedInputs": "kinds of questions, which rules ask",
	"Tools.CallbackSecret": "secrets are rotated", "Selector.Optional": "what is said where a selector matches nothing",

	"Settings.Name": "names of tools", "Settings.Title": "words for models", "Settings.Description": "words for models",
	"Settings.ParamHeaders": "callers repeat what they send anyway", "Settings.Timeout": "limits bound what a call costs",
	"Settings.Idempotent": "a request may be sent again, as it was", "Annotations.Idempotent": "a request may be sent again, as it was", "Settings.IdempotencyKey": "a request may be sent again, as it was",
	"Settings.Clean": "the form of answers", "Result": "less of an answer that its caller gets anyway; sensitive_fields hides",
	"AnswerError": "an answer that its caller gets anyway, as an error; sensitive_fields hides",

	"Server.PublicURL": "public_urls, of which it is one, is compared",

	"Argument.Name": "names of arguments", "Argument.Description": "words for models", "Argument.Example": "words for models",
	"Argument.Default": "callers may give another value",

	"Input.Key": "the form of a question", "Input.Kind": "the form of a question", "Input.Step": "the order of questions", "Input.Message": "words for users",
	"Input.Schema": "the form of a question", "Input.URL": "a page that the operator names, and the gateway sends nothing to", "Input.Params": "the form of a question",
	"Input.NoSecrets": "a check of the form",

	"Job.Location": "where an answer is read", "Job.State": "where an answer is read", "Job.Progress": "where an answer is read", "Job.Total": "where an answer is read",
	"Job.Message": "where an answer is read", "Job.Output": "where an answer is read", "Job.ResultLocation": "where an answer is read: it leads to the same origin",
	"Job.Interval": "limits bound what a call costs", "Job.Wait": "limits bound what a call costs", "Job.TTL": "limits bound what a call costs",
	"Job.WithoutTasks": "which clients wait", "JobOperation.Bind": "arguments of the operation", "JobAnswer.Bind": "arguments of the operation",
	"JobAnswer.Key": "arguments of the operation", "JobAnswer.Action": "arguments of the operation", "JobAnswer.Content": "arguments of the operation",
	"JobQuestions.List": "where an answer is read", "JobQuestions.Key": "where an answer is read", "JobQuestions.Message": "where an answer is read",
	"JobQuestions.Schema": "where an answer is read", "JobCallback.Argument": "arguments of the operation", "JobCallback.MaxBody": "limits bound what a call costs",
	"CallbackSignature": "that there is one counts; its secret is rotated", "Cache.TTL": "how long an answer is good", "Cache.MaxBytes": "limits bound what a call costs",

	"Tools.Presentation": "the form of lists", "Tools.ListBudget": "the form of lists", "Tools.ListLimit": "the form of lists", "Tools.Pinned": "the form of lists",
	"MCPEndpoint.Presentation": "the form of lists", "MCPEndpoint.ListBudget": "the form of lists", "MCPEndpoint.ListLimit": "the form of lists", "MCPEndpoint.Pinned": "the form of lists",
	"MCPEndpoint.Title": "words for models", "MCPEndpoint.Instructions": "words for models", "MCPEndpoint.SchemaProfile": "the form of lists",

	"Prompt.Title": "words for users", "Prompt.Description": "words for users", "Prompt.Arguments": "words for users, and calls as the caller",
	"Prompt.Inputs": "what the user is asked, for words", "Prompt.Messages": "words, and calls as the caller, with all that these need", "Prompt.File": "where the prompt stands",

	"Discovery.MaxServices": "a limit", "Discovery.MaxLoss": "a limit, which services are kept by",
	"DocumentSearch": "where documents are looked for, on the same servers", "HTTPDiscovery.Refresh": "when the registry is asked", "HTTPDiscovery.Token": "secrets are rotated",
	"KubernetesDiscovery.Address": "how the same services are called",
	"ConsulDiscovery.Wait":        "when the registry is asked", "ConsulDiscovery.Token": "secrets are rotated",
	"DockerDiscovery.Refresh": "when the registry is asked", "DockerDiscovery.CertFile": "who the gateway is to it", "DockerDiscovery.KeyFile": "who the gateway is to it",
	"APICatalogDiscovery.Refresh": "when the registry is asked", "DNSDiscovery.Refresh": "when the registry is asked",
	"ServiceCenterDiscovery.Refresh": "when the registry is asked", "ServiceCenterDiscovery.Username": "who the gateway is to it", "ServiceCenterDiscovery.Password": "secrets are rotated",
	"NacosDiscovery.Refresh": "when the registry is asked", "NacosDiscovery.Username": "who the gateway is to it", "NacosDiscovery.Password": "secrets are rotated",
	"EurekaDiscovery.Refresh": "when the registry is asked", "EurekaDiscovery.Username": "who the gateway is to it", "EurekaDiscovery.Password": "secrets are rotated",
	"ServiceCredential.SpecCredential": "it goes to the place of the document alone, and callers get nothing by it",

	"Console.Enabled":    "while it is off, nobody may do anything in it, and that is what is compared",
	"ConsoleToken.Token": "secrets are rotated", "ConsoleOIDC.ClientSecret": "secrets are rotated", "ConsoleOIDC.Scopes": "what the provider is asked for; its roles_claim counts",

	"Embeddings.Model": "how tools are ranked, not which ones a caller may find", "Embeddings.Dimensions": "how tools are ranked, not which ones a caller may find",
	"Embeddings.Token": "secrets are rotated",
	"Redis.User":       "who the gateway is to it", "Redis.Password": "secrets are rotated", "Redis.Timeout": "limits bound what a call costs",
	"Redis.Connections": "limits bound what a call costs", "Telemetry.LogLevel": "no record has secrets, arguments or answers at any level",
	"Telemetry.LogFormat": "the form of logs", "Audit.HashKey": "keys are rotated", "Audit.Buffer": "limits bound what a call costs",
}

// TestEveryKeyIsDecidedOn: each key of the configuration is in the summary, so that taking it away changes that, or is not, for a reason.
func TestEveryKeyIsDecidedOn(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{"tls.crt": "certificate", "tls.key": "key"} {
		writePair(t, filepath.Join(dir, name), from)
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	k := &keys{t: t, c: c, summary: textOf(t, c), types: map[reflect.Type]bool{}, declared: map[string]bool{}, compared: map[string]bool{}}
	k.declare(reflect.TypeFor[config.Config]())
	k.walk(reflect.ValueOf(c).Elem())
	for _, key := range slices.Sorted(maps.Keys(k.declared)) {
		reason, listed := uncompared[key]
		switch {
		case !listed && !k.compared[key]:
			t.Errorf("nothing tells when %s changes: put it into the summary and into the configuration of this test, or give a reason why not", key)
		case listed && k.compared[key]:
			t.Errorf("%s is in the summary, although %q", key, reason)
		}
	}
	for key := range uncompared {
		if !k.declared[key] && !k.types[typeNamed(k.types, key)] {
			t.Errorf("there is no key %s", key)
		}
	}
}

func typeNamed(types map[reflect.Type]bool, name string) reflect.Type {
	for t := range types {
		if t.Name() == name {
			return t
		}
	}
	return nil
}

func textOf(t *testing.T, c *config.Config) string {
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
	types              map[reflect.Type]bool
	declared, compared map[string]bool // as Type.Field
}

// declare notes all keys that there are, below a type.
func (k *keys) declare(t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || k.types[t] || !hasKeys(t) {
		return
	}
	k.types[t] = true
	if _, ok := uncompared[t.Name()]; ok {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("yaml") == "" {
			continue
		}
		if key := t.Name() + "." + f.Name; !isSection(f.Type) {
			k.declared[key] = true
		} else if _, ok := uncompared[key]; ok {
			k.declared[key] = true
			continue
		}
		k.declare(f.Type)
	}
}

// isSection reports whether a field has keys of its own, and is nothing but these.
func isSection(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && hasKeys(t)
}

func hasKeys(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") != "" {
			return true
		}
	}
	return false
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
			if textOf(k.t, k.c) != k.summary {
				k.compared[fmt.Sprint(v.Type().Name(), ".", f.Name)] = true
			}
			v.Field(i).Set(was)
			k.walk(v.Field(i))
		}
	default:
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
