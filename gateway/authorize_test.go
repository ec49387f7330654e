package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/endpoint"
	"drawbridge/test/gatewaytest"
)

// TestManyViews holds that views are bounded however many sets of scopes callers have.
func TestManyViews(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	var names []string
	rules := "rules:\n"
	for n := range 10 {
		names = append(names, fmt.Sprintf("tool%d", n))
		rules += fmt.Sprintf("  - {match: {operation: tool%d}, set: {scopes: [\"s%d\"]}}\n", n, n)
	}
	cfg, _, _ := strings.Cut(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "rules:")
	cfg = strings.Replace(cfg, "default_scopes", "hide_unauthorized: true\n  default_scopes", 1) + rules
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", names...), cfg, service.URL)
	gen := g.Current().Main
	for n := range 1 << len(names) {
		p := &auth.Principal{}
		var want []string
		for bit, name := range names {
			if n>>bit&1 == 1 {
				p.Scopes = append(p.Scopes, fmt.Sprintf("s%d", bit))
				want = append(want, name)
			}
		}
		v := gen.List(endpoint.Tools, catalog.FeaturesOf("2026-07-28"), p, nil)
		for _, name := range names {
			if slices.Contains(want, name) != strings.Contains(string(v.Pages[0]), `"name":"`+name+`"`) {
				t.Fatalf("with %q: %s", p.Scopes, v.Pages[0])
			}
		}
	}
	size := 0
	for _, v := range gen.PageCache.Views {
		size += v.Size
	}
	if len(gen.PageCache.Views) > endpoint.MaxViews || size != gen.PageCache.Bytes {
		t.Errorf("%d views of %d bytes, counted as %d", len(gen.PageCache.Views), size, gen.PageCache.Bytes)
	}
}
