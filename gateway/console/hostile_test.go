package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/history"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// hostileTools is a set of one tool whose every text is the same.
type hostileTools string

func (s hostileTools) All() []*catalog.Tool {
	text := string(s)
	property, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{text: map[string]any{"type": "string", "description": text, "enum": []string{text}}}}) // strings can be written
	op := &openapi.Operation{Method: "GET", Path: "/", ID: "harmless", Description: text, Input: property}
	tools := catalog.Build([]catalog.API{{Name: "shop", Operations: []*openapi.Operation{op}, Choose: func(*openapi.Operation) (catalog.Choice, bool) { return catalog.Choice{}, true }}}, catalog.Options{}).All()
	for _, t := range tools {
		t.Name, t.Title, t.Description, t.Said, t.API, t.Wanted = text, text, text, text, text, text
	}
	op.Method, op.Path, op.Tags = text, text, []string{text}
	return tools
}

func (s hostileTools) Lookup(string) *catalog.Tool { return s.All()[0] }
func (s hostileTools) Find(context.Context, string, int, func(*catalog.Tool) bool) []*catalog.Tool {
	return s.All()
}
func (s hostileTools) Fate(*catalog.Tool) admin.Fate   { return admin.Fate(s) }
func (s hostileTools) Scopes(*catalog.Tool) [][]string { return [][]string{{string(s)}} }
func (s hostileTools) Access(*catalog.Tool) *admin.ToolAccess {
	text := string(s)
	return &admin.ToolAccess{
		Scopes: [][]string{{text}}, ScopesFrom: text, Condition: text, ConditionFrom: text, ConfirmFrom: text, BaseURL: text, BaseURLFrom: text, Credential: text, CredentialFrom: text,
	}
}

// hostileTokens explains each token with the same text.
type hostileTokens struct {
	text     string
	accepted bool
}

func (h hostileTokens) Explain(context.Context, string) *auth.Explanation {
	return &auth.Explanation{
		Algorithm: h.text, Key: h.text, Type: h.text, Issuer: h.text, Subject: h.text, Client: h.text, Audiences: []string{h.text}, Scopes: []string{h.text},
		Accepted: h.accepted, Reason: h.text, Advice: h.text,
	}
}
func (hostileTokens) Allows(*auth.Principal, [][]string) bool { return true }

// hostileTrials has one tool, and its calls are answered with the same text.
type hostileTrials struct{ text, refused string }

func (h hostileTrials) Trial(string) (TrialTool, bool) {
	input, _ := json.Marshal(map[string]any{"properties": map[string]any{ // strings can be written
		h.text:   map[string]any{"type": "string", "title": h.text, "description": h.text, "default": h.text, "pattern": h.text},
		"choice": map[string]any{"enum": []string{h.text}},
		"list":   map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "default": []string{h.text}},
	}})
	example, _ := json.Marshal(map[string]any{h.text: h.text})
	return TrialTool{Name: h.text, Title: h.text, API: h.text, Method: h.text, Path: h.text, Input: input, Example: example, Refused: h.refused}, true
}

func (h hostileTrials) Request(context.Context, string, json.RawMessage) (call.Exchange, error) {
	if h.refused != "" {
		return call.Exchange{}, errors.New(h.text)
	}
	return call.Exchange{Method: h.text, URL: h.text, RequestHeader: []call.HeaderLine{{Name: h.text, Value: h.text}}, RequestBody: h.text}, nil
}

func (h hostileTrials) Try(context.Context, string, string, json.RawMessage) (TrialResult, error) {
	lines := []call.HeaderLine{{Name: h.text, Value: h.text}}
	result, _ := json.Marshal(map[string]any{h.text: h.text}) // strings can be written
	return TrialResult{
		Exchanges: []call.Exchange{{Method: h.text, URL: h.text, RequestHeader: lines, RequestBody: h.text, Status: 200, ResponseHeader: lines, ResponseBody: h.text}},
		Result:    result, Cause: h.text,
	}, nil
}

// hostileCalls is a history of one call whose every text is the same: that of a client that names no tool, or of a service.
func hostileCalls(text string) *history.Recorder {
	yes := func() bool { return true }
	h := history.New(history.Options{On: yes, Bodies: yes})
	h.Add(&history.Call{
		RPC: text, Tool: text, API: text, Outcome: text, Cache: text, Caller: text, Client: text, Request: text, Arguments: []byte(text), Answer: []byte(text), Trace: [16]byte{1},
	})
	return h
}

// TestHostileCalls holds that no text of a tool, a call, a token or an answer becomes markup.
func TestHostileCalls(t *testing.T) {
	pages := func(text string) (all []string) {
		for _, refused := range []string{"", text} {
			b := signedIn(t, newTestConsole(t, func(o *Options) {
				o.Tools = func() ToolSet { return hostileTools(text) }
				o.Access, o.Trials, o.History, o.Clean = hostileTokens{text, refused == ""}, hostileTrials{text, refused}, hostileCalls(text), answer.CleanData
				inUse := *o.Config()
				o.Config = func() *config.Config { return &inUse }
				inUse.Auth = &config.Auth{}
			}), operateToken)
			csrf := b.csrf()
			for _, w := range []*httptest.ResponseRecorder{
				b.get("/console"), b.get("/console/tools"), b.get("/console/tools?q=x"), b.get("/console/tools/x"), b.get("/console/live"), b.get("/console/access"), b.get("/console/try/x"),
				b.post("/console/access", url.Values{"csrf": {csrf}, "token": {text}}),
				b.post("/console/try/x", url.Values{"csrf": {csrf}, "use": {"json"}, "arguments": {"{}"}}),
				b.post("/console/try/x", url.Values{"csrf": {csrf}, "use": {"json"}, "arguments": {text}}),
			} {
				if w.Code >= http.StatusInternalServerError {
					t.Fatalf("%q: page %d: %d %s", text, len(all), w.Code, w.Body)
				}
				all = append(all, w.Body.String())
			}
		}
		return all
	}
	harmless := pages("harmless")
	for i, page := range harmless {
		if i != 0 && i != 10 && !strings.Contains(page, "harmless") {
			t.Errorf("page %d does not show the text:\n%s", i, page)
		}
	}
	for _, text := range payloads {
		for i, page := range pages(text) {
			if got, want := shape(t, page), shape(t, harmless[i]); got != want {
				t.Errorf("%q changes page %d:\n%s\nwithout it:\n%s", text, i, got, want)
			}
			if strings.ContainsAny(page, "\u202e\u200b\x00") {
				t.Errorf("%q: page %d has invisible characters", text, i)
			}
		}
	}
}
