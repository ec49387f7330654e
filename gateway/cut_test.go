package gateway_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// cutting is a configuration in sections that may stand in any order, and the callers who try what it lets through.
type cutting struct {
	sections []string
	tokens   map[string]string
}

var cutTools = []string{"list", "purge", "secret", "ask"}

// newCutting writes settings in block style, where each line that is missing leaves a configuration that may be good.
func newCutting(t *testing.T, main, other *gatewaytest.IDP, base string) *cutting {
	t.Helper()
	return &cutting{
		sections: []string{
			"apis:\n  - spec: a.yaml\n    name: shop\n    base_url: " + base + "\n    tools:\n      exclude:\n        - operation: secret\n",
			"auth:\n  issuers:\n    - issuer: " + main.URL + "\n      client_ids:\n        - app\n  default_scopes:\n    - mcp:tools\n    - mcp:more\n",
			"rules:\n  - match: {operation: purge}\n    set:\n      scopes:\n        - admin\n  - match: {operation: ask}\n    set:\n      confirm: true\n",
			"server:\n  public_url: https://mcp.example.com\n",
		},
		tokens: map[string]string{
			"nobody":        "",
			"default scope": main.Token(t, map[string]any{"scope": "mcp:tools mcp:more"}),
			"less scope":    main.Token(t, map[string]any{"scope": "mcp:tools"}),
			"no scope":      main.Token(t, map[string]any{"scope": "none"}),
			"admin":         main.Token(t, map[string]any{"scope": "mcp:tools mcp:more admin"}),
			"other client":  main.Token(t, map[string]any{"scope": "mcp:tools mcp:more", "client_id": "other"}),
			"other issuer":  other.Token(t, map[string]any{"scope": "mcp:tools mcp:more"}),
			"listener":      main.Token(t, map[string]any{"scope": "mcp:tools mcp:more", "aud": "http://127.0.0.1:8080/mcp"}),
		},
	}
}

// text returns the configuration with its sections in the order of the digits.
func (c *cutting) text(order string) string {
	var b strings.Builder
	b.WriteString("limits: {address_rate: \"off\", principal_rate: \"off\"}\n") // callers who are refused are not to be refused for that
	for _, at := range order {
		b.WriteString(c.sections[at-'0'])
	}
	return b.String()
}

// access returns who can call what.
func (c *cutting) access(t *testing.T, g *gateway.Gateway) map[string]bool {
	t.Helper()
	can := map[string]bool{}
	for who, token := range c.tokens {
		for _, tool := range cutTools {
			if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], token).Call(tool); gatewaytest.Succeeded(w) {
				can[who+" "+tool] = true
			}
		}
	}
	return can
}

// more fails for each call that is possible and was not.
func more(t *testing.T, when string, before, now map[string]bool) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if !before[what] {
			t.Errorf("%s: %s is possible", when, what)
		}
	}
}

// cuts returns where lines end, and everywhere with bytes.
func cuts(text string, bytes bool) (at []int) {
	for i := range text {
		if bytes || text[i] == '\n' {
			at = append(at, i+1)
		}
	}
	return at
}

// TestCutConfiguration: a configuration file that is cut anywhere, as by a copy in two steps or a full disk, gives nobody more than the whole one
// did, neither when the running gateway notices it nor when it is started with it. (pains row 104)
func TestCutConfiguration(t *testing.T) {
	main, other, service := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	c := newCutting(t, main, other, service.URL)
	files := map[string]string{"a.yaml": gatewaytest.Document("Shop", cutTools...)}
	for _, order := range []string{"0123", "0312", "1230", "3210", "2103", "0213"} {
		t.Run(order, func(t *testing.T) {
			whole := c.text(order)
			files["drawbridge.yaml"] = whole
			r := gatewaytest.Run(t, files)
			r.Served()
			before := c.access(t, r.Gateway)
			if !before["default scope list"] || !before["admin purge"] || len(before) != 3 { // and what admin may list
				t.Fatalf("the whole configuration: %v", before)
			}
			held := 0
			for _, at := range cuts(whole, order == "0123" && !testing.Short()) {
				r.Write(map[string]string{"drawbridge.yaml": whole[:at]})
				done := submit(r, false) // as a change of the file
				if err := timebox.Receive(t, done); err != nil {
					held++
				}
				more(t, fmt.Sprintf("reload, cut at %d, after %q", at, lastLine(whole[:at])), before, c.access(t, r.Gateway))
				r.Write(map[string]string{"drawbridge.yaml": whole})
				if err := r.Reload(t.Context()); err != nil {
					t.Fatalf("put back after %d: %v", at, err)
				}
			}
			if held == 0 {
				t.Error("no cut was held or refused")
			}
			if now := c.access(t, r.Gateway); !maps.Equal(before, now) {
				t.Errorf("in the end: %v, want %v", now, before)
			}
			c.start(t, r.Dir, whole, before)
		})
	}
}

// start starts a gateway with each cut of a configuration that has run whole.
func (c *cutting) start(t *testing.T, dir, whole string, before map[string]bool) {
	file, stateDir := filepath.Join(dir, "drawbridge.yaml"), t.TempDir()
	begin := func() (*gateway.Gateway, func()) {
		cfg, _ := config.Load(file, func(string) string { return "" })
		if cfg == nil {
			return nil, nil
		}
		g, err := gateway.New(gateway.Options{Config: cfg, ConfigFile: file, StateDirs: []string{stateDir}})
		if err != nil {
			return nil, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Run(ctx) }()
		timebox.Wait(t, g.Serving())
		return g, func() {
			cancel()
			if err := timebox.Receive(t, ended); err != nil {
				t.Errorf("Run: %v", err)
			}
		}
	}
	refused := 0
	for _, at := range append([]int{len(whole)}, cuts(whole, false)...) {
		if at != len(whole) { // what ran last is the whole
			if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			runAccepted(t, file, stateDir)
		}
		if err := os.WriteFile(file, []byte(whole[:at]), 0o600); err != nil {
			t.Fatal(err)
		}
		g, end := begin()
		if g == nil {
			refused++
			continue
		}
		more(t, fmt.Sprintf("start, cut at %d, after %q", at, lastLine(whole[:at])), before, c.access(t, g))
		end()
	}
	if refused == 0 {
		t.Error("no start was refused")
	}
}

// runAccepted starts and ends a gateway with --accept.
func runAccepted(t *testing.T, file, stateDir string) {
	t.Helper()
	cfg, problems := config.Load(file, func(string) string { return "" })
	if cfg == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: cfg, ConfigFile: file, StateDirs: []string{stateDir}, Accept: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}
