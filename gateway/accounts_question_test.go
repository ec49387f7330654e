package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// formsAndLinks are the capabilities of a client that shows forms and links.
const formsAndLinks = `{"elicitation":{"form":{},"url":{}}}`

// answering returns a client of alice that gives an answer to each question. If connects is set, she connects the account before she accepts.
func (w *accountWorld) answering(g *gateway.Gateway, revision, capabilities, answer string, connects bool) *gatewaytest.Answering {
	w.t.Helper()
	c := &gatewaytest.Answering{T: w.t, Revision: revision}
	token := w.token("alice")
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		if connects && strings.Contains(string(body), `"action":"accept"`) {
			if page := w.browser(g, "alice", "alice@shop").connect(linkForm.FindString(c.Log.String())); !strings.Contains(page.Body.String(), connected) {
				w.t.Errorf("%d %s", page.Code, page.Body)
			}
		}
		g.Handler().ServeHTTP(rw, r)
	}))
	w.t.Cleanup(server.Close)
	c.URL, c.Call.Capabilities = server.URL+"/mcp", json.RawMessage(capabilities)
	c.Call.Answers = map[string][]json.RawMessage{"account": {json.RawMessage(answer)}}
	return c
}

// TestAccountQuestion: a client that shows links is asked for the account before anything is sent. The call goes on once the user has
// connected it; a response of the client alone connects nothing.
func TestAccountQuestion(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, tt := range []struct {
			name, capabilities, answer string
			connects                   bool
			want, never                string
			asked                      bool
			sent                       int
		}{
			{"connected", formsAndLinks, `{"action":"accept"}`, true, `alice@shop`, "/account/connect/", true, 1},
			{"accepted and not connected", formsAndLinks, `{"action":"accept"}`, false, "has not finished signing in", "alice@shop", true, 0},
			{"declined", formsAndLinks, `{"action":"decline"}`, false, "declined to connect", "/account/connect/", true, 0},
			{"cancelled", formsAndLinks, `{"action":"cancel"}`, false, "Show the user this link", "alice@shop", true, 0},
			{"content", formsAndLinks, `{"action":"accept","content":{"connected":true}}`, false, "/account/connect/", "alice@shop", true, 0},
			{"forms alone", `{"elicitation":{"form":{}}}`, "", false, "Show the user this link", "alice@shop", false, 0},
			{"no questions", `{}`, "", false, "Show the user this link", "alice@shop", false, 0},
		} {
			t.Run(revision+" "+tt.name, func(t *testing.T) {
				w := newAccountWorld(t, 0)
				g := w.gateway(t.TempDir())
				c := w.answering(g, revision, tt.capabilities, tt.answer, tt.connects)
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
