package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"drawbridge/config"
	"drawbridge/gateway"
)

// front is the gateway with one document, called through its HTTP handler.
type front struct {
	gateway *gateway.Gateway
	handler http.Handler
}

// newFront loads a document from its URL, with the overlay that a folder has of it, into a gateway whose calls go to base. Schemas are not
// cut to a size: what is left away of one can't be kept to.
func newFront(ctx context.Context, d document, overlays, base string, c *credential) (*front, error) {
	api := map[string]any{"spec": d.url, "name": "judged", "base_url": base, "refresh": "0s"}
	if overlay, err := filepath.Abs(filepath.Join(overlays, filepath.Base(d.file)+".overlay.yaml")); err != nil {
		return nil, err
	} else if _, err := os.Stat(overlay); overlays != "" && err == nil {
		api["overlays"] = []string{overlay}
	}
	if c != nil {
		secret := "${JUDGE_SECRET}"
		switch c.Type {
		case "bearer":
			api["credential"] = map[string]any{"type": "bearer", "token": secret}
		case "basic":
			api["credential"] = map[string]any{"type": "basic", "username": "judge", "password": secret}
		default:
			api["credential"] = map[string]any{"type": "api_key", "in": c.In, "name": c.Name, "value": secret}
		}
	}
	// Prism may take long: no answer becomes an event stream before the deadline.
	text, err := encode(map[string]any{"apis": []any{api}, "server": map[string]any{"keep_alive": "60s"}, "limits": map[string]any{"timeout": "60s", "max_schema": "1MiB"}})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "drawbridge.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	cfg, problems := config.Load(file, func(name string) string { return map[string]string{"JUDGE_SECRET": "c2VjcmV0"}[name] })
	if cfg == nil {
		return nil, fmt.Errorf("configuration: %v", problems)
	}
	g, err := gateway.New(gateway.Options{Config: cfg, Version: "judge"})
	if err != nil {
		return nil, err
	}
	outcomes, err := g.Load(ctx)
	if err != nil {
		return nil, err
	}
	if err := outcomes[0].Err; err != nil {
		return nil, err
	}
	return &front{gateway: g, handler: g.Handler()}, nil
}

// encode writes JSON without the escapes that are for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// result is what of a tool's result the judge looks at.
type result struct {
	IsError bool
	Content []struct{ Type, Text string }
}

// text is the first text of a result.
func (r result) text() string {
	for _, c := range r.Content {
		if c.Type == "text" {
			return c.Text
		}
	}
	return ""
}

// call makes one call in the newest revision.
func (f *front) call(ctx context.Context, tool string, arguments json.RawMessage) (result, error) {
	revision := gateway.Revisions()[0]
	body, err := encode(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": arguments,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}})
	if err != nil {
		return result{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/mcp", bytes.NewReader(body))
	if err != nil {
		return result{}, err
	}
	r.RemoteAddr = "127.0.0.1:40000"
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	var answer struct {
		Result *result
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		return result{}, fmt.Errorf("answer %d %.200q: %w", w.Code, w.Body.String(), err)
	}
	switch {
	case answer.Error != nil:
		return result{}, errors.New(answer.Error.Message)
	case answer.Result == nil:
		return result{}, fmt.Errorf("answer %d has no result", w.Code)
	}
	return *answer.Result, nil
}
