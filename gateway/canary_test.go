package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/call"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// canaryService fails in every way that a path names; it answers nothing of what it was sent, since what a service
// says of itself is passed on.
func canaryService(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch kind {
	case "ok":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	case "drift":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[1]`)
	case "refuse":
		w.WriteHeader(http.StatusUnauthorized)
	case "redirect":
		w.Header().Set("Location", "https://elsewhere.example/login?back="+r.URL.RawQuery+"&a="+r.Header.Get("Authorization")+r.Header.Get("X-Key"))
		w.WriteHeader(http.StatusFound)
	case "slow":
		<-r.Context().Done()
	case "cut":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{`)
		panic(http.ErrAbortHandler)
	case "large":
		_, _ = w.Write(make([]byte, 64<<10))
	case "garbage":
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = buf.WriteString("220 mail.example.com ESMTP\r\n")
			_ = buf.Flush()
			_ = conn.Close()
		}
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// canaryTokens is an authorization server that gives a token, or fails while it repeats what it was sent.
func canaryTokens(token string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.Header().Set("Content-Type", "application/json")
		said := strconv.Quote(r.Header.Get("Authorization") + r.PostForm.Encode())
		switch r.URL.Path {
		case "/refuse":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":`+said+`}`)
		case "/strange":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":`+said+`}`)
		case "/garbage":
			_, _ = io.WriteString(w, said)
		default:
			_, _ = io.WriteString(w, `{"access_token":"`+token+`","token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","expires_in":600}`)
		}
	}
}

// TestCanaries is T1, E4, O8: whatever goes wrong, and with every log record on, neither the caller's token nor a
// credential of the gateway comes out in logs, metrics, spans, admin pages, errors or results; and of a call's
// arguments nothing is kept: they come out in nothing but what its own caller gets.
func TestCanaries(t *testing.T) {
	const argument = "argument-canary-4b1f7d"
	secrets := map[string]string{
		"BEARER": "bearer-canary-90c2aa", "BASIC": "basic-canary-77e01b", "HEADER": "header-canary-51d93c", "QUERY": "query-canary-c8a64e",
		"SPEC": "spec-canary-2f50b9", "CLIENT": "client-canary-3a7c11", "ADMIN": "admin-canary-e6173f", "OWN": "own-canary-b81d20", "ADDED": "added-canary-5fe2c8", "FIXED": "fixed-canary-19b7d0", "SEAL": "seal-canary-0d84a1-and-more-of-it-to-be-long",
	}
	const issued = "issued-canary-6be002-and-more-of-it"
	secrets["issued"] = issued
	received := &gatewaytest.Sink{} // all that the service got
	var told sync.Map               // the identities of callers
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(received, r.URL, r.Header)
		if identity := r.Header.Get("X-Drawbridge-Identity"); identity != "" {
			told.Store(identity[strings.LastIndexByte(identity, '.')+1:], nil)
		}
		canaryService(w, r)
	}))
	defer service.Close()
	tokens := httptest.NewServer(canaryTokens(issued))
	defer tokens.Close()
	specs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good.yaml" {
			_, _ = io.WriteString(w, gatewaytest.CanaryDocument)
			return
		}
		http.NotFound(w, r)
	}))
	defer specs.Close()
	i, gone := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t)
	unseen := gone.Token(t, nil)
	gone.Close()

	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "drawbridge.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	key := auth.NewAPIKey()
	good := strings.NewReplacer("$HASH", string(config.NewKeyHash(auth.HashAPIKey(key))), "$SPECS", specs.URL, "$BASE", service.URL, "$ISSUERS", gatewaytest.Issuers(i, gone), "$OAUTH", `client_id: gw, client_secret: "${CLIENT}", token_url: "`+tokens.URL).Replace(`
server: {public_url: https://mcp.example.com, seal_keys: ["${SEAL}"]}
admin: {token: "${ADMIN}"}
auth: {issuers: [$ISSUERS], keys: [{name: script, hash: "$HASH", scopes: [mcp:tools]}], default_scopes: [mcp:tools]}
limits: {max_answer: 4KiB, address_rate: off, principal_rate: off}
telemetry: {log_level: debug}
identity: {key_files: [key.pem]}
apis:
  - {name: token, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: client_credentials, $OAUTH/ok"}}
  - {name: trade, spec: $SPECS/good.yaml, base_url: $BASE, identity: {}, pass_headers: [X-Passed], credential: {type: token_exchange, audiences: [a], $OAUTH/ok"}}
  - {name: own, spec: $SPECS/good.yaml, base_url: $BASE, pass_headers: [{from: X-Own-Token, to: Authorization}]}
  - {name: untold, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: token_exchange, audiences: [a], $OAUTH/refuse"}}
  - {name: strange, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: token_exchange, audiences: [a], client_auth: client_secret_post, $OAUTH/strange"}}
  - {name: garbled, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: client_credentials, $OAUTH/garbage"}}
  - {name: lonely, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: client_credentials, client_id: gw, client_secret: "${CLIENT}", token_url: "http://127.0.0.1:1/?key=${CLIENT}"}}
  - {name: bearer, spec: "$SPECS/good.yaml?key=${SPEC}", base_url: $BASE, credential: {type: bearer, token: "${BEARER}"}}
  - {name: basic, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: basic, username: u, password: "${BASIC}"}}
  - {name: login, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: login, username: u, password: "${BASIC}", login: {url: /login, token_pointer: /token}}}
  - {name: digest, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: digest, username: u, password: "${BASIC}"}}
  - {name: header, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: api_key, in: header, name: X-Key, value: "${HEADER}"}}
  - {name: query, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: api_key, in: query, name: key, value: "${QUERY}"}}
  - {name: cookie, spec: $SPECS/good.yaml, base_url: $BASE, credential: {type: api_key, in: cookie, name: key, value: "${QUERY}"}}
  - {name: down, spec: $SPECS/good.yaml, base_url: "http://127.0.0.1:1", credential: {type: api_key, in: query, name: key, value: "${QUERY}"}}
  - {name: notls, spec: $SPECS/good.yaml, base_url: "https://$BASE", credential: {type: api_key, in: query, name: key, value: "${QUERY}"}}
  - {name: nospec, spec: "$SPECS/none.yaml?key=${SPEC}", credential: {type: api_key, in: query, name: key, value: "${QUERY}"}}
  - {name: deadspec, spec: "http://127.0.0.1:1/none.yaml?key=${SPEC}", credential: {type: api_key, in: query, name: key, value: "${QUERY}"}}
  - {name: added, spec: $SPECS/good.yaml, base_url: $BASE, request: {headers: {X-Added: {secret: "${ADDED}"}}, query: {added: {secret: "${ADDED}"}}}}
rules:
  - {match: {api: added}, set: {arguments: {q: {secret: "${FIXED}"}}}}
  - {match: {operation: slow}, set: {timeout: 20ms}}
`)
	good = strings.ReplaceAll(good, "https://http://", "https://")
	_, keyFile := gatewaytest.NewKey(t)
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte(keyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	write(good)
	load := func(kept *config.Kept) (*config.Config, error) {
		c, problems := config.LoadWith(filepath.Join(dir, "drawbridge.yaml"), func(name string) string { return secrets[name] }, config.LoadOptions{Kept: kept})
		return c, problems.Err()
	}
	c, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	log, spans := &gatewaytest.Sink{}, tracetest.NewSpanRecorder()
	audited := &gatewaytest.Sink{}
	lines, err := audit.New(audit.Options{Output: audited, Fields: []string{"/none"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Config: c, Audit: lines, LoadConfig: load, Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	defer func() {
		cancel()
		if err := timebox.Receive(t, ended); err != nil {
			t.Error(err)
		}
	}()
	(&gatewaytest.Running{Gateway: g, T: t}).Eventually("all are tried", func() bool {
		for _, api := range g.Status().APIs {
			if api.State == "loading" {
				return false
			}
		}
		return true
	})

	token := i.Token(t, nil)
	hidden := gatewaytest.Canaries{"token's signature": token[strings.LastIndexByte(token, '.')+1:]}
	hidden["key"] = key[len(auth.APIKeyPrefix):]
	for name, value := range secrets {
		hidden[name] = value
	}
	kept := gatewaytest.Canaries{"argument": argument}
	for name, value := range hidden {
		kept[name] = value
	}
	check := func(where, text string, c gatewaytest.Canaries) {
		t.Helper()
		if names := c.Found(text); len(names) > 0 {
			t.Errorf("%s: %v came out:\n%s", where, names, text)
		}
	}

	// Calls of every kind, on every API, in both eras.
	for _, revision := range gatewaytest.Eras {
		client := gatewaytest.NewClient(t, g.Handler(), revision, token)
		client.Header.Set("X-Passed", argument)
		client.Header.Set("X-Own-Token", "Bearer "+secrets["OWN"])
		for _, p := range g.Plans() {
			arguments := fmt.Sprintf(`{"id":%q,"q":%q}`, argument, argument)
			if p.Tool.API == "added" { // which fixes q
				arguments = fmt.Sprintf(`{"id":%q}`, argument)
			}
			if p.Operation.ID == "panics" {
				broken := *p
				broken.Client = nil
				g.Current().Main.Tools[p.Tool.Name] = call.Operation(&broken)
			}
			w := client.Send("tools/call", p.Tool.Name, arguments)
			if want := map[bool]int{false: http.StatusOK, true: http.StatusUnauthorized}[p.Tool.API == "untold" && p.Operation.ID != "panics"]; w.Code != want {
				t.Errorf("%s = %d %s", p.Tool.Name, w.Code, w.Body)
			}
			check(p.Tool.Name, fmt.Sprint(w.Header(), w.Body), hidden)
			for _, wrong := range []string{fmt.Sprintf(`{"id":%q,%q:1}`, argument, argument), fmt.Sprintf(`{"id":[%q]}`, argument), `{"q":"`} {
				check(p.Tool.Name, client.Send("tools/call", p.Tool.Name, wrong).Body.String(), hidden)
			}
		}
		client.Send("tools/call", argument, "{}")
		client.Send(argument, "", "")
		client.Send("tools/list", "", "")
		// The same with a key, which is neither exchanged nor passed on.
		for _, own := range []string{"Bearer " + secrets["OWN"], key, "Bearer " + key} {
			script := gatewaytest.NewClient(t, g.Handler(), revision, "")
			script.Header.Set(auth.APIKeyHeader, key)
			script.Header.Set("X-Passed", key)
			script.Header.Set("X-Own-Token", own)
			for _, p := range g.Plans() {
				if p.Operation.ID == "panics" {
					continue
				}
				w := script.Send("tools/call", p.Tool.Name, fmt.Sprintf(`{"id":%q}`, argument))
				if exchanges := p.Source.Config.Exchanges(); w.Code != http.StatusOK || exchanges != strings.Contains(w.Body.String(), "this caller has an API key") && p.Tool.API != "trade" {
					t.Errorf("%s with a key = %d %s", p.Tool.Name, w.Code, w.Body)
				}
				check(p.Tool.Name+" with a key", fmt.Sprint(w.Header(), w.Body), hidden)
			}
		}
		wrong := gatewaytest.Do(g.Handler(), http.MethodPost, "/mcp?api_key="+key, nil)
		check("key in the query", fmt.Sprint(wrong.Code, wrong.Header(), wrong.Body), hidden)
		// Tokens that are refused, in the ways in which they can be.
		for _, bad := range []string{token + "x", token[:len(token)-4], "x" + token, unseen, token + "," + token,
			i.Token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), i.Token(t, map[string]any{"scope": ""})} {
			w := gatewaytest.NewClient(t, g.Handler(), revision, bad).Call("bearer_ok")
			if w.Code < 400 {
				t.Errorf("a bad token: %d %s", w.Code, w.Body)
			}
			check("refused token", fmt.Sprint(w.Header(), w.Body), gatewaytest.Canaries{"token": bad})
		}
		w := gatewaytest.Do(g.Handler(), http.MethodPost, "/mcp?access_token="+token, nil)
		check("token in the query", fmt.Sprint(w.Code, w.Header(), w.Body), hidden)
	}

	told.Range(func(signature, _ any) bool {
		hidden["identity"], kept["identity"] = signature.(string), signature.(string)
		return true
	})
	if hidden["identity"] == "" || !strings.Contains(received.String(), issued) || !strings.Contains(received.String(), "Authorization:[Bearer "+secrets["OWN"]) ||
		!strings.Contains(received.String(), "?q="+secrets["FIXED"]+"&added="+secrets["ADDED"]) {
		t.Error("no token or identity was sent")
	}
	check("what the service got", received.String(), gatewaytest.Canaries{"token's signature": hidden["token's signature"], "key": hidden["key"], "CLIENT": secrets["CLIENT"]})

	// Reloads of configurations that hold the secrets in the clear, and are wrong beside them.
	for _, bad := range []string{
		strings.Replace(good, "apis:", "apis: "+secrets["BEARER"], 1),
		strings.ReplaceAll(good, "password:", "pasword:"),
		strings.ReplaceAll(strings.ReplaceAll(good, `"${BASIC}"`, secrets["BASIC"]), "type: basic", "type: bsaic"),
		strings.ReplaceAll(good, `"${BEARER}"`, "["+secrets["BEARER"]+"]"),
		strings.ReplaceAll(good, `"${BEARER}"`, "\""+secrets["BEARER"]+`\r\n"`),
		strings.ReplaceAll(good, `"${QUERY}"`, secrets["QUERY"]+": {"),
		strings.ReplaceAll(good, `"${SEAL}"`, secrets["SEAL"][:16]),
		strings.ReplaceAll(good, `"${ADMIN}"`, secrets["ADMIN"][:14]),
		strings.ReplaceAll(good, `"${HEADER}"`, "${file:"+filepath.Join(dir, "none")+"}"),
	} {
		write(bad)
		for _, authorization := range []string{"Bearer " + secrets["ADMIN"], "Bearer " + secrets["ADMIN"] + "x"} {
			w := gatewaytest.Do(g.Admin(), http.MethodPost, "/reload", http.Header{"Authorization": {authorization}})
			if w.Code < 400 {
				t.Errorf("a bad configuration was accepted: %d %s\n%s", w.Code, w.Body, bad)
			}
			check("answer of /reload", fmt.Sprint(w.Header(), w.Body), kept)
		}
		for _, path := range []string{"/readyz?verbose", "/apis"} {
			check(path, gatewaytest.Do(g.Admin(), http.MethodGet, path, nil).Body.String(), kept)
		}
	}
	write(good)
	if w := gatewaytest.Do(g.Admin(), http.MethodPost, "/reload", http.Header{"Authorization": {"Bearer " + secrets["ADMIN"]}}); w.Code != http.StatusOK {
		t.Errorf("/reload = %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/metrics", "/readyz?verbose", "/apis"} {
		check(path, gatewaytest.Do(g.Admin(), http.MethodGet, path, nil).Body.String(), kept)
	}
	operator := gatewaytest.SignInToConsole(t, g, secrets["ADMIN"])
	for _, path := range consolePages(t, g, operator) {
		w := gatewaytest.Do(g.Admin(), http.MethodGet, path, operator)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		body := w.Body.String()
		if strings.HasPrefix(path, "/console/live") { // the name of an unknown tool is what the client wrote
			body = regexp.MustCompile(`<th scope="row">[^<]*`).ReplaceAllString(body, "")
		}
		check(path, fmt.Sprint(w.Header(), body), kept)
	}
	for line := range strings.Lines(log.String()) {
		check("log", line, kept)
	}
	none, cut := context.WithCancel(t.Context())
	cut()
	if err := lines.Run(none); err != nil { // writes what has come together
		t.Error(err)
	}
	for line := range strings.Lines(audited.String()) {
		if strings.Contains(line, `"outcome":"unknown_tool"`) { // whose name is what the client wrote
			check("audit log", line, hidden)
		} else {
			check("audit log", line, kept)
		}
	}
	if n := strings.Count(audited.String(), "\n"); n < 100 {
		t.Errorf("%d lines in the audit log", n)
	}
	finished := spans.Ended()
	if len(finished) == 0 {
		t.Error("no spans")
	}
	for _, s := range finished {
		check("span "+s.Name(), fmt.Sprint(s.Attributes(), s.Events(), s.Status(), s.Links(), s.SpanContext().TraceState()), kept)
	}
	for _, outcome := range []string{"ok", "redirect", "client_error", "server_error", "bad_arguments", "insufficient_scope", "internal", "token_refused", "token_subject_refused", "token_unavailable", "token_unusable", "timeout", "connect", "tls", "too_large", "truncated", "protocol"} {
		if len(gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="`+outcome+`"`)) == 0 {
			t.Errorf("no call ended with %s: the sweep does not cover it", outcome)
		}
	}
}
