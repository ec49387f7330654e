package gateway_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestStoredOverlays: a stored document is served as its overlays made it, though neither it nor they can be read; with other
// overlays it is not served.
func TestStoredOverlays(t *testing.T) {
	document, overlay := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge)), gatewaytest.NewChanging(t, gatewaytest.OverlayOf(gatewaytest.RemoveAdmin))
	cfg := "server: {state_dir: " + filepath.Join(t.TempDir(), "state") + "}\napis: [{spec: '" + document.URL + "/a.yaml', name: a, refresh: 0s, overlays: ['" + overlay.URL + "/o.yaml']}]\n"
	first := started(t, cfg)
	first.Served()
	first.end()
	for what, down := range map[string]*gatewaytest.Changing{"document": document, "overlay": overlay} {
		text := *down.Text.Load()
		down.Set("")
		second := started(t, cfg)
		second.Served()
		second.Eventually("the origin is tried", func() bool { return second.State(0).Error != "" })
		if got := second.Tools(); second.State(0).State != admin.Stale || !slices.Equal(got, []string{"list"}) {
			t.Errorf("without the %s: %q, %+v", what, got, second.State(0))
		}
		second.end()
		down.Set(text)
	}
	document.Set("")
	other := started(t, strings.Replace(cfg, "o.yaml", "another.yaml", 1))
	other.Eventually("the origin is tried", func() bool { return other.State(0).Error != "" })
	if got := other.Tools(); other.State(0).State != admin.Failed || len(got) > 0 {
		t.Errorf("with another overlay: %q, %+v", got, other.State(0))
	}
}
