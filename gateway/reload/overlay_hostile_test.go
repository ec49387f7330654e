package reload_test

import (
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestHostileOverlays: a remote overlay whose queries would overflow a stack or take hours is the failure of its API, whose last good
// version goes on; the process, and the other API, go on, and a mended overlay is applied.
func TestHostileOverlays(t *testing.T) {
	query := func(text string) string { return gatewaytest.OverlayOf(`{target: "` + text + `", remove: true}`) }
	a, b, overlay := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge)), gatewaytest.NewChanging(t, gatewaytest.Tagged("B", "GET /other other public")), gatewaytest.NewChanging(t, query("$[?"+strings.Repeat("(", 1_000_000)))
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis:\n- {spec: '" + a.URL + "/a.yaml', name: a, refresh: 100ms, overlays: ['" + overlay.URL + "/o.yaml']}\n- {spec: '" + b.URL + "/b.yaml', name: b, refresh: 100ms}\n"})
	has := func(want ...string) func() bool { return func() bool { return slices.Equal(r.Tools(), want) } }
	r.Served()
	r.Eventually("the other API is served", has("b_other"))
	r.Eventually("the API has failed", func() bool { return r.State(0).State == admin.Failed })
	if e := r.State(0).Error; !strings.Contains(e, "o.yaml:4:6: ") || !strings.Contains(e, "it is longer than 16384 bytes") {
		t.Errorf("the error is %.300s", e)
	}
	overlay.Set(gatewaytest.OverlayOf(gatewaytest.RemoveAdmin))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Eventually("the mended overlay is applied", has("a_list", "b_other"))
	for name, text := range map[string]string{
		"brackets":     query("$" + strings.Repeat("[", 1_000_000)),
		"filters":      query("$" + strings.Repeat("[?@", 1_000_000)),
		"negations":    query("$[?" + strings.Repeat("!(", 1_000_000)),
		"conjunctions": query("$[?" + strings.Repeat("(@.a&&", 1_000_000)),
		"short":        query("$" + strings.Repeat("[?@", 100) + strings.Repeat("]", 100)),
		"repetitions":  query("$..[?match(@, '" + strings.Repeat("(.?){999}", 30) + "')]"),
	} {
		overlay.Set(text)
		_ = r.Reload(t.Context())
		r.Eventually(name+" are refused", func() bool { return r.State(0).State == admin.Stale })
		if !has("a_list", "b_other")() {
			t.Errorf("%s: tools %q", name, r.Tools())
		}
		overlay.Set(gatewaytest.OverlayOf(gatewaytest.RemoveAdmin))
		_ = r.Reload(t.Context()) // failed attempts are repeated with growing pauses
		r.Eventually("it is mended", func() bool { return r.State(0).State == admin.Ready })
	}
}
