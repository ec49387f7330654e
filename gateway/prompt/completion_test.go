package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/prompt"
	"drawbridge/test/gatewaytest"
)

const completionConfig = `prompts:
  - name: find
    arguments: [{name: who, complete: {tool: list, arguments: {}, values: /*}}]
    messages: [{text: "{{who}}"}]
`

// TestCompletionIsKept: at each key that somebody presses there is a request, and the service is spared it.
func TestCompletionIsKept(t *testing.T) {
	var calls atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `["Ann %d","Bob"]`, calls.Add(1))
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+completionConfig, service.URL)
	for value, want := range map[string]string{"": `["Ann 1","Bob"]`, "a": `["Ann 1"]`, "o": `["Bob"]`} {
		status, body := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "completion/complete", "", gatewaytest.CompleteParams(value))
		if status != 200 || !strings.Contains(string(body), `"values":`+want) {
			t.Errorf("%q: %d %s", value, status, body)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestCompletionScopes: what a service tells one caller is not told to another, and nothing to who may not call the tool.
func TestCompletionScopes(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + strings.Replace(completionConfig, "tool: list", "tool: purge", 1)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), cfg, service.URL)
	ask := func(claims map[string]any) string {
		c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, claims))
		header := c.Header.Clone()
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": gatewaytest.Eras[0], "Mcp-Method": "completion/complete"} {
			header.Set(name, value)
		}
		return gatewaytest.Post(c.H, header, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{`+gatewaytest.CompleteParams("")+
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`).Body.String()
	}
	if got := ask(map[string]any{"scope": "orders:all"}); !strings.Contains(got, `"values":["true"]`) || len(service.Taken()) != 1 {
		t.Errorf("with all scopes: %s", got)
	}
	if got := ask(map[string]any{"scope": "mcp:tools"}); !strings.Contains(got, `"values":[]`) || len(service.Taken()) != 0 {
		t.Errorf("without the scope of the tool: %s", got)
	}
	if got := ask(map[string]any{"scope": "orders:all", "sub": "somebody else"}); !strings.Contains(got, `"values":["true"]`) || len(service.Taken()) != 1 {
		t.Errorf("of somebody else: %s", got)
	}
	if got := ask(map[string]any{"scope": "orders:all", "jti": "another"}); !strings.Contains(got, `"values":["true"]`) || len(service.Taken()) != 1 {
		t.Errorf("with another token: %s", got)
	}
	if got := ask(map[string]any{"scope": "profile"}); !strings.Contains(got, "insufficient scope for this prompt") || len(service.Taken()) != 0 {
		t.Errorf("without the scope of the prompt: %s", got)
	}
}

// roundTrip is a service that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCompletionTime: who types does not wait for a slow service, and does not have it asked at each key.
func TestCompletionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := gatewaytest.StartJobs(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+completionConfig, roundTrip(func(r *http.Request) (*http.Response, error) {
			calls++
			<-r.Context().Done()
			if !errors.Is(r.Context().Err(), context.Canceled) {
				t.Errorf("a call that nobody waits for ended with %v, which its service would be blamed for", r.Context().Err())
			}
			return nil, r.Context().Err()
		}))
		for _, tt := range []struct {
			waits time.Duration
			calls int
		}{{prompt.CompletionTimeout, 1}, {0, 1}, {prompt.CompletionTimeout, 2}} {
			begin := time.Now()
			_, body := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "completion/complete", "", gatewaytest.CompleteParams(""))
			if d := time.Since(begin); d != tt.waits || calls != tt.calls || !strings.Contains(string(body), `"values":[]`) {
				t.Errorf("after %v and %d calls, want %v and %d: %s", d, calls, tt.waits, tt.calls, body)
			}
			if tt.waits == 0 {
				time.Sleep(prompt.CompletionLifetime)
			}
		}
	})
}
