package call_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway/redact"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/sigv4"
)

const signedDocument = `openapi: 3.1.0
info: {title: Orders, version: '1'}
paths:
  /orders/{id}:
    post:
      operationId: change
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: tag, in: query, schema: {type: array, items: {type: string}}}
        - {name: q, in: query, schema: {type: string}}
        - {name: X-Amz-Target, in: header, schema: {type: string}}
        - {name: X-Amz-Security-Token, in: header, schema: {type: string}}
        - {name: X-Amz-Signature, in: query, schema: {type: string}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {'200': {description: ok}}
    get:
      operationId: look
      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]
      responses: {'200': {description: ok}}
`

// TestSigV4 is a call from the client to a service that verifies signatures from what is on the wire: over a connection in the clear, which
// has a writer of its own, and over TLS; with what can be escaped in more than one way, and again after an answer of 503. No answer shows
// a signature or a secret.
func TestSigV4(t *testing.T) {
	const secret, session = "secret-access-key-canary/+", "session-token-canary=="
	for _, name := range []string{"execute-api", "s3"} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %t", name, secure), func(t *testing.T) {
				v := sigv4.Verifier{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: secret, SessionToken: session, Region: "eu-west-1", Service: name, PlainPath: name == "s3"}
				var mu sync.Mutex
				var seen []string
				service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					err := v.Verify(r)
					mu.Lock()
					defer mu.Unlock()
					if seen = append(seen, fmt.Sprint(r.Method, " ", r.RequestURI, " ", err)); len(seen) == 1 {
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					w.Header().Set("Content-Type", "text/plain")
					_, _ = io.WriteString(w, "got "+fmt.Sprint(r.Header))
				}))
				base, trust := "", ""
				if secure {
					service.EnableHTTP2 = true
					service.StartTLS()
					file := filepath.Join(t.TempDir(), "ca.pem")
					if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}), 0o600); err != nil {
						t.Fatal(err)
					}
					base, trust = service.URL, ", ca_file: "+file
				} else {
					service.Start()
					base = service.URL
				}
				defer service.Close()
				g := gatewaytest.Start(t, signedDocument, "apis: [{name: orders, spec: $SPEC, base_url: $BASE/v1"+trust+", retries: {budget: 100}, credential: {type: aws_sigv4, access_key_id: AKIDEXAMPLE, secret_access_key: "+
					secret+", session_token: "+session+", region: eu-west-1, service: "+name+"}}]\n", base)
				if list := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Send("tools/list", "", "").Body.String(); strings.Contains(list, "X-Amz-Sec") || strings.Contains(list, "X-Amz-Signature") || !strings.Contains(list, "X-Amz-Target") {
					t.Errorf("what is signed with can be set: %s", list)
				}
				for _, call := range []struct{ tool, arguments string }{
					{"look", `{"id":"a b:ü+日本~","q":"x y+z&é=1"}`},
					{"change", `{"id":"1","tag":["z","a","z a"],"q":"","X-Amz-Target":"Orders.Change","note":"naïve \"quoted\""}`},
					{"change", `{"id":"~","note":"` + strings.Repeat("é", 1<<18) + `"}`},
				} {
					raw, err := gatewaytest.CallAsOperator(t.Context(), g, call.tool, json.RawMessage(call.arguments))
					if text := string(raw); err != nil || strings.Contains(text, `"isError":true`) || strings.Contains(text, secret) || strings.Contains(text, session) || !strings.Contains(text, "Signature="+redact.Placeholder) {
						t.Errorf("%s: %v %s", call.tool, err, text)
					}
				}
				if len(seen) != 4 {
					t.Errorf("%d requests: %q", len(seen), seen)
				}
				for _, request := range seen {
					if !strings.HasSuffix(request, " <nil>") {
						t.Error(request)
					}
				}
			})
		}
	}
}
