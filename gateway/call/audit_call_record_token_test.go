package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestAccountOfRenewal: a request that was answered with 401 was sent, whatever becomes of the one with another token. Neither the
// audit log nor the model is told otherwise.
func TestAccountOfRenewal(t *testing.T) {
	for _, c := range []struct {
		name   string
		second func(w http.ResponseWriter) // nil: no connection can be made for it
		line   string                      // outcome, requests and bytes sent
		text   string                      // what the model reads
	}{
		{"no connection", nil, "connect 1 12", `The service \"a\" can't be reached. It refused the call for its credential, and nothing was sent to it with a new one. Try again in a minute`},
		{"answered", func(w http.ResponseWriter) { _, _ = w.Write([]byte("done")) }, "ok 2 24", "done"},
		{"refused again", func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "client_error 2 24", "does not accept the gateway's credential"},
		{"broken off", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "truncated 2 24", "The call may have taken effect all the same"},
		{"not HTTP", func(w http.ResponseWriter) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 200) + "\r\n"))
				_ = conn.Close()
			}
		}, "protocol 2 24", "an answer that the gateway can't read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens := gatewaytest.NewTokenServer(t)
			var expired atomic.Bool
			var service *httptest.Server
			service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !expired.Load():
				case r.Header.Get("Authorization") == "Bearer "+gatewaytest.TokenCanary+"1":
					if c.second == nil {
						_ = service.Listener.Close()
						w.Header().Set("Connection", "close")
					}
					w.WriteHeader(http.StatusUnauthorized)
				default:
					c.second(w)
				}
			}))
			defer service.Close()
			out := &gatewaytest.Sink{}
			log, err := audit.New(audit.Options{Output: out})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- log.Run(ctx) }()
			defer func() { cancel(); timebox.Wait(t, ended) }()
			var now gatewaytest.Clock
			const doc = `openapi: 3.1.0
info: {title: A, version: '1'}
paths: {/one: {post: {operationId: one, requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}, responses: {'200': {description: ok}}}}}
`
			r := gatewaytest.RunWith(t, map[string]string{"a.yaml": doc, "drawbridge.yaml": fmt.Sprintf(`
apis:
  - {name: a, spec: a.yaml, base_url: %q, pass_headers: [X-Team], credential: {type: client_credentials, token_url: %q, client_id: gw, client_secret: "${S:-ssssssssss}"}}
`, service.URL, tokens.URL)}, gateway.Options{Audit: log, Test: gateway.TestOptions{Now: now.Now}})
			r.Served()
			call := func() string {
				_, answer := gatewaytest.Ask(t, r.Handler(), "", "tools/call", "one", `"name":"one","arguments":{"note":"n"}`)
				return string(answer)
			}
			call()
			now.Advance(time.Minute)
			expired.Store(true)
			if got := call(); !strings.Contains(got, c.text) || strings.Contains(got, "Nothing was sent") {
				t.Errorf("the model reads %s, want %s", got, c.text)
			}
			r.Eventually("the lines are written", func() bool { return strings.Count(out.String(), "\n") == 2 })
			line := map[string]any{}
			if err := json.Unmarshal([]byte(strings.Split(out.String(), "\n")[1]), &line); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(line["outcome"], " ", line["requests"], " ", line["bytes_sent"]); got != c.line {
				t.Errorf("the audit log has %s, want %s", got, c.line)
			}
		})
	}
}
