package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/tokenizer"
	"drawbridge/test/process"
)

// lists prints what a client gets when it connects: the answers to initialize or server/discover, and to tools/list.
func (s *settings) lists(ctx context.Context) error {
	all, err := s.documents()
	if err != nil {
		return err
	}
	github := []string{filepath.Join(s.corpus, "big", "github.json")}
	fmt.Println("| what a client gets when it connects | tokens | goal | |")
	fmt.Println("|---|---|---|---|")
	for _, of := range []struct {
		name      string
		documents []string
		goal      float64
	}{{"GitHub", github, 1000}, {fmt.Sprintf("%d documents", len(all)), all, 1200}} {
		if err := s.connect(ctx, of.name, of.documents, of.goal); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// documents returns the documents of the corpus, and the largest ones.
func (s *settings) documents() (files []string, err error) {
	index, err := os.ReadFile(filepath.Join(s.corpus, "INDEX.md"))
	if err != nil {
		return nil, fmt.Errorf("the corpus: %w", err)
	}
	for line := range strings.Lines(string(index)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		name := filepath.Join(s.corpus, filepath.FromSlash(strings.TrimSpace(cells[1])))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	for _, big := range []string{"github.json", "stripe.json"} {
		name := filepath.Join(s.corpus, "big", big)
		if !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files, nil
}

// connect starts a gateway for documents and connects as clients do.
func (s *settings) connect(ctx context.Context, name string, documents []string, goal float64) error {
	dir, err := os.MkdirTemp("", "toollists")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	listen, err := process.FreeAddress()
	if err != nil {
		return err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "server: {listen: %q, shutdown_delay: 0s}\nadmin: {listen: %q}\ntelemetry: {log_level: error}\napis:\n", listen, admin)
	for _, file := range documents {
		fmt.Fprintf(&text, "  - {spec: %q, base_url: \"http://127.0.0.1:1\"}\n", file)
	}
	config := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return err
	}
	gateway, err := process.Start(ctx, s.gateway, "serve", "--config", config)
	if err != nil {
		return err
	}
	defer func() { _ = gateway.Stop() }()
	if err := ready(ctx, admin); err != nil {
		return errors.Join(err, errors.New(gateway.Log()))
	}
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		whole, tools, err := connection(ctx, "http://"+listen+"/mcp?presentation=all", revision)
		if err != nil {
			return err
		}
		fmt.Printf("| %s, %d tools, presentation all, %s | %d | – | |\n", name, tools, revision, whole)
		few, _, err := connection(ctx, "http://"+listen+"/mcp", revision)
		if err != nil {
			return err
		}
		s.row(fmt.Sprintf("%s, presentation search, %s", name, revision), float64(few), goal, "%.0f")
	}
	return nil
}

// ready waits until all documents were read, or refused.
func ready(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		metrics, err := process.Metrics(ctx, admin)
		loading := 0.0
		for name, value := range metrics {
			if strings.HasPrefix(name, "drawbridge_api_state{") && strings.Contains(name, `state="loading"`) {
				loading += value
			}
		}
		if err == nil && loading == 0 && process.Ready(ctx, admin) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the gateway is not ready: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// connection returns the tokens of the results that a client gets when it connects and asks for the tools, and the number of
// tools in the list.
func connection(ctx context.Context, url, revision string) (tokens, tools int, err error) {
	begin := "server/discover"
	if revision < "2026" {
		begin = "initialize"
	}
	result, session, err := request(ctx, url, revision, begin, "", "")
	if err != nil {
		return 0, 0, err
	}
	tokens = tokenizer.Count(result)
	cursor := ""
	for page := 0; page == 0 || cursor != ""; page++ {
		if result, session, err = request(ctx, url, revision, "tools/list", session, cursor); err != nil {
			return 0, 0, err
		}
		tokens += tokenizer.Count(result)
		var list struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal(result, &list); err != nil {
			return 0, 0, err
		}
		tools += len(list.Tools)
		cursor = list.NextCursor
	}
	return tokens, tools, nil
}

// request makes a request, in a session if there is one, and returns its result and the session.
func request(ctx context.Context, url, revision, method, session, cursor string) (result json.RawMessage, id string, err error) {
	page := ""
	if cursor != "" {
		page = `"cursor":"` + cursor + `",`
	}
	params := `{` + page + `"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"toollists","version":"1"}}`
	if revision >= "2026" {
		params = `{` + page + `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{}}}`
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)))
	if err != nil {
		return nil, "", err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": revision, "Mcp-Method": method, "Mcp-Session-Id": session} {
		if value != "" && (name != "Mcp-Method" || revision >= "2026") {
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, "", err
	}
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result == nil {
		return nil, "", fmt.Errorf("%s: %s %.300s", method, resp.Status, body)
	}
	if id = resp.Header.Get("Mcp-Session-Id"); id == "" {
		id = session
	}
	return answer.Result, id, nil
}
