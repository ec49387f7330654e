package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// greeting is a tool of a kind that the gateway does not have: no operation, and none of its own.
type greeting struct {
	definition *catalog.Tool
	scopes     [][]string
	rates      []*admission.RateLimit
	metrics    *telemetry.CallMetrics
}

func (g *greeting) Definition() *catalog.Tool              { return g.definition }
func (g *greeting) Scopes() (sets [][]string, needed bool) { return g.scopes, true }
func (g *greeting) Rates() []*admission.RateLimit          { return g.rates }
func (g *greeting) AsksUser() bool                         { return false }
func (g *greeting) Metrics() *telemetry.CallMetrics        { return g.metrics }
func (g *greeting) Redaction() call.Redaction              { return call.Redaction{} }
func (g *greeting) Run(ctx context.Context, c *call.Call) error {
	ctx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	if string(c.Arguments) == `{"panic":true}` {
		panic("the kind is broken")
	}
	c.Answer([][]byte{[]byte("hello")})
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return nil
}

// TestToolOfAnotherKind: a tool of any kind is authorized, limited, recorded and counted as an operation is, called by its own name or
// through call_tool.
func TestToolOfAnotherKind(t *testing.T) {
	i := gatewaytest.NewIDP(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "name: shop,", "name: shop, rate: {rate: 1/h, burst: 4},", 1), "http://127.0.0.1:1")
	gen := g.Current()
	kind := &greeting{
		definition: catalog.NewTool(catalog.Definition{Name: "greet", Title: "Greet", Description: "Greets.", Input: []byte(`{"type":"object"}`)}),
		scopes:     [][]string{{"greet"}}, metrics: g.Counters().OwnCall("greet"),
		rates: admission.NewCallRateLimits("greet", gen.Config.APIs[0].Rate, "", nil),
	}
	gen.Main.Tools["greet"] = kind
	without, with := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, nil)), gatewaytest.NewClient(t, g.Handler(), "2026-07-28", i.Token(t, map[string]any{"scope": "mcp:tools greet"}))
	var status []int
	lines := auditOf(t, g, func() {
		for _, one := range []struct {
			c               *gatewaytest.Client
			tool, arguments string
		}{
			{without, "greet", "{}"}, {without, "call_tool", `{"name":"greet"}`}, {with, "greet", "{}"}, {with, "call_tool", `{"name":"greet"}`},
			{with, "greet", `{"panic":true}`}, {with, "read_tool", `{"name":"greet"}`}, {with, "greet", "{}"},
		} {
			w := one.c.Send("tools/call", one.tool, one.arguments)
			status = append(status, w.Code)
			if text, isError := "", false; w.Code == http.StatusOK {
				if text, isError = gatewaytest.TextOf(t, w); isError == (text == "hello\n") {
					t.Errorf("%s %s: %s", one.tool, one.arguments, w.Body)
				}
			}
		}
	})
	var records []string
	for line := range strings.Lines(lines) {
		var l struct{ Tool, Via, Decision, Outcome string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		records = append(records, strings.Join([]string{l.Tool, l.Via, l.Decision, l.Outcome}, " "))
	}
	if diff := cmp.Diff([]int{403, 403, 200, 200, 200, 200, 429}, status); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"greet  refused insufficient_scope", "greet call_tool refused insufficient_scope", "greet  allowed ok", "greet call_tool allowed ok",
		"greet  allowed internal", "greet read_tool allowed bad_arguments", "greet  refused limited",
	}, records); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(gatewaytest.MetricLines(g, `drawbridge_tool_calls_total{api="",outcome="limited",tool="greet"} 1`)) == 0 {
		t.Error("the refused call is not counted")
	}
	if n := g.Overload().InFlight(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}
