package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"drawbridge/auth/authtest"
)

func main() {
	var s settings
	flag.StringVar(&s.gateway, "gateway", "bin/drawbridge", "the `program`")
	flag.StringVar(&s.corpus, "corpus", os.Getenv("OPENAPI_CORPUS"), "`folder` of real documents; \"\": only one API")
	flag.StringVar(&s.browser, "browser", "chromium", "the browser's `program`")
	flag.StringVar(&s.packages, "packages", "", "`folder` with check.mjs and its packages")
	flag.StringVar(&s.screenshots, "screenshots", "out/console-screenshots", "`folder` for screenshots")
	flag.StringVar(&s.only, "only", "", "do only the `parts` whose names this is a part of")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "console-e2e:", err)
		os.Exit(1)
	}
}

type settings struct{ gateway, corpus, browser, packages, screenshots, only string }

// Tokens that sign in, and what must be on no page. The values are those of this test alone.
const (
	operateToken = "canary-operate-6b1f0a7c"
	viewToken    = "canary-view-2d9e4c83aa"
	apiSecret    = "canary-credential-9f3b57"
	clientSecret = "canary-client-secret-41d8"
)

// plan is what the browser's part is told.
type plan struct {
	Browser     string            `json:"browser"`
	Screenshots string            `json:"screenshots"`
	Only        string            `json:"only"`
	Operate     string            `json:"operate"` // tokens
	View        string            `json:"view"`
	Token       string            `json:"token"` // of a client of the gateway with problems
	Canaries    []string          `json:"canaries"`
	Service     string            `json:"service"` // counts what it gets
	Payload     string            `json:"payload"` // marker of all payloads
	Payloads    []string          `json:"payloads"`
	Gateways    map[string]places `json:"gateways"` // one, hostile, troubled, many
}

// places are where a gateway is reached.
type places struct {
	Console string `json:"console"`
	Public  string `json:"public"`
	Config  string `json:"config"` // file
	PID     int    `json:"pid"`
}

func (s *settings) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "console")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	service := newService()
	defer service.Close()
	idp, err := newIdentityProvider()
	if err != nil {
		return err
	}
	defer func() { _ = idp.Close() }()
	w := &world{settings: s, dir: dir, service: service, issuer: idp.Issuer()}
	defer w.stop()
	if err := w.start(ctx); err != nil {
		return err
	}
	token, err := idp.Issue(authtest.Token{Audience: []string{w.places["troubled"].Public + "/mcp"}, Scopes: []string{"orders:all"}, Life: time.Hour})
	if err != nil {
		return err
	}
	p := plan{
		Browser: s.browser, Screenshots: s.screenshots, Only: s.only, Operate: operateToken, View: viewToken, Token: token, Service: service.URL, Payload: marker, Payloads: payloads,
		Canaries: []string{operateToken, viewToken, apiSecret, clientSecret}, Gateways: w.places,
	}
	file := filepath.Join(dir, "plan.json")
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	check := exec.CommandContext(ctx, "node", filepath.Join(s.packages, "check.mjs"), file)
	check.Stdout, check.Stderr = os.Stdout, os.Stderr
	return check.Run()
}
