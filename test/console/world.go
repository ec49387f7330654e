package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"drawbridge/test/process"
)

// world is the gateways that the browser looks at.
type world struct {
	*settings
	dir     string
	service *service
	issuer  string
	running []*process.Child
	places  map[string]places
}

// start starts the gateways and makes some calls, so that their pages have something to show.
func (w *world) start(ctx context.Context) error {
	w.places = map[string]places{}
	one := fmt.Sprintf("  - {name: orders, spec: %q, base_url: %q, credential: {type: bearer, token: %s}}\n", w.service.URL+"/orders.json", w.service.URL, apiSecret)
	if err := w.gateway(ctx, "one", one+"rules: [{match: {operation: deleteOrder}, set: {confirm: true}}]\nendpoints: [{name: reading, match: {method: GET}}]\n"); err != nil {
		return err
	}
	if err := w.traffic(ctx); err != nil {
		return err
	}
	hostile := fmt.Sprintf("  - {name: hostile, spec: %q, base_url: %q}\n", w.service.URL+"/hostile.json", w.service.URL)
	if err := w.gateway(ctx, "hostile", hostile); err != nil {
		return err
	}
	if err := w.troubled(ctx); err != nil {
		return err
	}
	if w.corpus == "" {
		return nil
	}
	documents, err := w.documents()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, file := range documents {
		fmt.Fprintf(&text, "  - {spec: %q, base_url: %q}\n", file, w.service.URL)
	}
	return w.gateway(ctx, "many", text.String())
}

// troubled starts a gateway with authorization, and an API in each state that needs attention: one fails, one has no credential, and of
// one the newer document is held.
func (w *world) troubled(ctx context.Context) error {
	const rules = `auth: {issuers: [{issuer: %q}], default_scopes: ["orders:read"], implies: {"orders:all": ["orders:read", "orders:write"]}}
rules: [{match: {operation: deleteOrder}, set: {scopes: ["orders:write"]}}, {match: {operation: createOrder}, set: {scopes: ["orders:write"]}}]
`
	api := func(name, file, more string) string {
		return fmt.Sprintf("  - {name: %s, spec: %q, base_url: %q%s}\n", name, w.service.URL+file, w.service.URL, more)
	}
	apis := api("orders", "/orders.json", "") + api("lost", "/lost.json", "") + api("keyless", "/stock.json", "") + api("stock", "/stock.json", ", credential: {type: api_key, in: header, name: X-Key, value: "+apiSecret+"}")
	if err := w.gateway(ctx, "troubled", apis+fmt.Sprintf(rules, w.issuer)); err != nil {
		return err
	}
	w.service.shrunk.Store(true)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.places["troubled"].Console+"/reload", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+operateToken)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("a reload: HTTP %d %s", resp.StatusCode, text)
	}
	return nil
}

// documents returns the documents of the corpus, and the largest ones.
func (w *world) documents() (files []string, err error) {
	index, err := os.ReadFile(filepath.Join(w.corpus, "INDEX.md"))
	if err != nil {
		return nil, fmt.Errorf("the corpus: %w", err)
	}
	for line := range strings.Lines(string(index)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		name := filepath.Join(w.corpus, filepath.FromSlash(strings.TrimSpace(cells[1])))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	for _, big := range []string{"github.json", "stripe.json"} {
		if name := filepath.Join(w.corpus, "big", big); !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files, nil
}

// gateway starts a gateway in front of APIs, as they stand in a configuration, and waits until all documents are read or refused.
func (w *world) gateway(ctx context.Context, name, apis string) error {
	listen, err := process.FreeAddress()
	if err != nil {
		return err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, state_dir: %q}
telemetry: {log_level: info} # a call has a request id if a log line has it
admin:
  listen: %q
  token: %s
  console:
    enabled: true
    url: http://%s
    tokens: [{name: visitor, token: %s, role: view}]
    oidc: {issuer: %q, client_id: console, client_secret: %s, roles_claim: sub, roles: {operate: [mia]}}
apis:
%s`, listen, filepath.Join(w.dir, name), admin, operateToken, admin, viewToken, w.issuer, clientSecret, apis)
	config := filepath.Join(w.dir, name+".yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	child, err := process.Start(ctx, w.settings.gateway, "serve", "--config", config)
	if err != nil {
		return err
	}
	w.running = append(w.running, child)
	w.places[name] = places{Console: "http://" + admin, Public: "http://" + listen, Config: config, PID: child.PID()}
	if err := ready(ctx, child, admin); err != nil {
		return errors.Join(err, errors.New(child.Log()))
	}
	return nil
}

// ready waits until no document is loading. With many documents this takes minutes on a machine that is busy.
func ready(ctx context.Context, child *process.Child, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return child.Await(ctx, func(ctx context.Context) error {
		if err := process.Ready(ctx, admin); err != nil {
			return err
		}
		metrics, err := process.Metrics(ctx, admin)
		if err != nil {
			return err
		}
		for name, value := range metrics {
			if strings.HasPrefix(name, "drawbridge_api_state{") && strings.Contains(name, `state="loading"`) && value > 0 {
				return errors.New("a document is loading")
			}
		}
		return nil
	})
}

// traffic makes calls by MCP, of which some fail.
func (w *world) traffic(ctx context.Context) error {
	for i := range 60 {
		id := "SO 1001"
		if i%7 == 3 {
			id = "missing"
		}
		name, args := "getOrder", fmt.Sprintf(`{"id":%q}`, id)
		if i%3 == 0 {
			name, args = "listOrders", `{"state":"open"}`
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.places["one"].Public+"/mcp", bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("a call: HTTP %d", resp.StatusCode)
		}
	}
	return nil
}

func (w *world) stop() {
	for _, child := range w.running {
		_ = child.Stop()
	}
}
