package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// documents returns the documents that INDEX.md of the corpus lists, without those that have no operations.
func (s *settings) documents() (files []string, err error) {
	index, err := os.ReadFile(filepath.Join(s.corpus, "INDEX.md"))
	if err != nil {
		return nil, fmt.Errorf("the corpus: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(index)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		file := filepath.Join(s.corpus, strings.TrimSpace(cells[1]))
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || strings.TrimSpace(cells[5]) == "0" {
			continue
		}
		if n++; (n-1)%max(1, s.every) == 0 {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s lists no documents", filepath.Join(s.corpus, "INDEX.md"))
	}
	return files, nil
}

// endpoint is a part of the gateway's tools under a URL.
type endpoint struct {
	document string
	url      string
	empty    bool // the document may have no tools
}

// world is a gateway with an endpoint for each document, and the service behind it.
type world struct {
	service   *httptest.Server
	gateway   *process.Child
	dir       string
	endpoints []endpoint
}

// newWorld starts both, and waits until all documents are read. The endpoint /mcp shows the tools of search mode.
func newWorld(ctx context.Context, s *settings, documents []string) (w *world, err error) {
	w = &world{service: httptest.NewServer(http.HandlerFunc(answer))}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "vendors"); err != nil {
		return w, err
	}
	listen, err := process.FreeAddress()
	if err != nil {
		return w, err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return w, err
	}
	profile := ""
	if s.profile != "" {
		profile = ", schema_profile: " + s.profile
	}
	var apis, endpoints strings.Builder
	for i, file := range documents {
		fmt.Fprintf(&apis, "  - {name: d%d, spec: %q, base_url: %q%s}\n", i, file, w.service.URL, profile)
		fmt.Fprintf(&endpoints, "  - {name: d%d, presentation: all}\n", i)
		w.endpoints = append(w.endpoints, endpoint{document: filepath.Base(file), url: fmt.Sprintf("http://%s/mcp/d%d", listen, i)})
	}
	w.endpoints = append(w.endpoints, endpoint{document: "search mode", url: "http://" + listen + "/mcp"})
	config := filepath.Join(w.dir, "drawbridge.yaml")
	text := fmt.Sprintf("server: {listen: %q, shutdown_delay: 0s, drain_timeout: 1s}\nadmin: {listen: %q}\ntelemetry: {log_level: error}\n"+
		"tools: {prefix: never, presentation: search}\napis:\n%sendpoints:\n%s", listen, admin, apis.String(), endpoints.String())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return w, err
	}
	if w.gateway, err = process.Start(ctx, s.gateway, "serve", "--config", config); err != nil {
		return w, err
	}
	if err := ready(ctx, w.gateway, admin); err != nil {
		return w, errors.Join(err, errors.New(w.gateway.Log()))
	}
	return w, nil
}

func (w *world) close() {
	if w.gateway != nil {
		_ = w.gateway.Stop()
	}
	w.service.Close()
	_ = os.RemoveAll(w.dir)
}

// ready waits until all documents were read.
func ready(ctx context.Context, gateway *process.Child, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return gateway.Await(ctx, func(ctx context.Context) error {
		metrics, err := process.Metrics(ctx, admin)
		if err != nil {
			return err
		}
		for name, value := range metrics {
			if value > 0 && strings.HasPrefix(name, "drawbridge_api_state{") && strings.Contains(name, `state="loading"`) {
				return fmt.Errorf("%s is loading", name)
			}
		}
		return process.Ready(ctx, admin)
	})
}

// answer answers as services do, each path always alike: JSON, also an empty object and a list, text, nothing, a picture and a failure.
func answer(w http.ResponseWriter, r *http.Request) {
	sum := 0
	for _, c := range r.URL.Path {
		sum += int(c)
	}
	reply := func(status int, mediaType, body string) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client sees what comes
	}
	switch sum % 8 {
	case 0:
		w.WriteHeader(http.StatusNoContent)
	case 1:
		reply(http.StatusOK, "application/json", `[{"id":1,"name":"é\u4f60\ud83d\ude00"},{"id":2,"name":null}]`)
	case 2:
		reply(http.StatusOK, "text/plain; charset=utf-8", "ready\n")
	case 3:
		reply(http.StatusNotFound, "application/problem+json", `{"title":"Not found","status":404}`)
	case 4:
		reply(http.StatusOK, "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")
	case 5:
		reply(http.StatusOK, "application/json", `{}`)
	default:
		reply(http.StatusOK, "application/json", `{"id":"1","data":{"items":[{"a":1.5,"b":true}]},"next":null}`)
	}
}
