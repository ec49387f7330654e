package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestAccountQuestion: a client that shows links is asked for the account before anything is sent. The call goes on once the user has
// connected it; a response of the client alone connects nothing.
func TestAccountQuestion(t *testing.T) {
	const both = `{"elicitation":{"form":{},"url":{}}}`
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, tt := range []struct {
			name, capabilities, answer string
			connects                   bool
			want, never                string
			asked                      bool
			sent                       int
		}{
			{"connected", both, `{"action":"accept"}`, true, `alice@shop`, "/account/connect/", true, 1},
			{"accepted and not connected", both, `{"action":"accept"}`, false, "has not finished signing in", "alice@shop", true, 0},
			{"declined", both, `{"action":"decline"}`, false, "declined to connect", "/account/connect/", true, 0},
			{"cancelled", both, `{"action":"cancel"}`, false, "Show the user this link", "alice@shop", true, 0},
			{"content", both, `{"action":"accept","content":{"connected":true}}`, false, "/account/connect/", "alice@shop", true, 0},
			{"forms alone", `{"elicitation":{"form":{}}}`, "", false, "Show the user this link", "alice@shop", false, 0},
			{"no questions", `{}`, "", false, "Show the user this link", "alice@shop", false, 0},
		} {
			t.Run(revision+" "+tt.name, func(t *testing.T) {
				w := newAccountWorld(t, 0)
				g := w.gateway(t.TempDir())
				c := &gatewaytest.Answering{T: t, Revision: revision}
				token := w.token("alice")
				server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					r.Header.Set("Authorization", "Bearer "+token)
					if tt.connects && strings.Contains(string(body), `"action":"accept"`) {
						if page := w.browser(g, "alice", "alice@shop").connect(linkForm.FindString(c.Log.String())); !strings.Contains(page.Body.String(), connected) {
							t.Errorf("%d %s", page.Code, page.Body)
						}
					}
					g.Handler().ServeHTTP(rw, r)
				}))
				t.Cleanup(server.Close)
				c.URL, c.Call.Capabilities = server.URL+"/mcp", json.RawMessage(tt.capabilities)
				c.Call.Answers = map[string][]json.RawMessage{"account": {json.RawMessage(tt.answer)}}
				text := string(c.Send("tools/call", "list", `{"name":"list","arguments":{}}`, nil).Result)
				if !strings.Contains(text, tt.want) || strings.Contains(text, tt.never) || len(w.calls) != tt.sent {
					t.Errorf("%d requests: %s\n%s", len(w.calls), text, c.Log.String())
				}
				if asked := strings.Contains(c.Log.String(), `"mode":"url"`); asked != tt.asked {
					t.Errorf("asked: %t\n%s", asked, c.Log.String())
				}
			})
		}
	}
}
