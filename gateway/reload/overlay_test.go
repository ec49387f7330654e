package reload_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestOverlaidDocumentChanges: an overlay is applied to each newer document; while it can't be read or applied, the last
// good document goes on, whose hidden operations stay hidden.
func TestOverlaidDocumentChanges(t *testing.T) {
	document, overlay := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge)), gatewaytest.NewChanging(t, gatewaytest.OverlayOf(gatewaytest.RemoveAdmin))
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: '" + document.URL + "/a.yaml', name: a, refresh: 100ms, overlays: ['" + overlay.URL + "/o.yaml?key=hidden-key']}]\n"})
	r.Served()
	has := func(want ...string) func() bool { return func() bool { return slices.Equal(r.Tools(), want) } }
	r.Eventually("the overlay is applied", has("list"))
	document.Set(gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge, "GET /count count public", "POST /drop drop admin"))
	r.Eventually("the newer document is overlaid", has("count", "list"))

	stale := func() bool { return r.State(0).State == admin.Stale }
	for what, text := range map[string]string{"gone": "", "broken": "overlay: 1.1.0\n", "not applicable": gatewaytest.OverlayOf(gatewaytest.RemoveAdmin, "{target: $.info, update: 1}")} {
		overlay.Set(text)
		document.Set(gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge, "GET /more more public"))
		r.Eventually("the overlay is "+what, stale)
		if e := r.State(0).Error; strings.Contains(e, "hidden-key") || !strings.Contains(e, "o.yaml") {
			t.Errorf("%s: %s", what, e)
		}
		if got := r.Tools(); !slices.Equal(got, []string{"count", "list"}) {
			t.Errorf("%s: tools %q", what, got)
		}
		document.Set(gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge, "GET /count count public"))
		overlay.Set(gatewaytest.OverlayOf(gatewaytest.RemoveAdmin))
		r.Eventually("it is back", func() bool { return r.State(0).State == admin.Ready })
	}
	overlay.Set(gatewaytest.OverlayOf(gatewaytest.RemoveAdmin, "{target: $.paths.*.get, update: {operationId: renamed}}"))
	r.Eventually("another overlay on the same document", func() bool { return !has("count", "list")() })
}

// TestOverlayFilesAreWatched: a changed overlay is applied though the document comes from a URL and is never fetched again.
func TestOverlayFilesAreWatched(t *testing.T) {
	for _, remote := range []bool{true, false} {
		document, spec := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge)), "a.yaml"
		if remote {
			spec = document.URL + "/a.yaml"
		}
		r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge), "o.yaml": gatewaytest.OverlayOf(gatewaytest.RemoveAdmin),
			"drawbridge.yaml": "apis: [{spec: '" + spec + "', name: a, refresh: 0s, overlays: [o.yaml]}]\n"})
		r.Served()
		r.Eventually("the overlay is applied", func() bool { return slices.Equal(r.Tools(), []string{"list"}) })
		r.Write(map[string]string{"o.yaml": gatewaytest.OverlayOf(gatewaytest.RemoveAdmin, "{target: $.paths.*.get, update: {operationId: all}}")})
		r.Eventually("the changed overlay is applied", func() bool { return slices.Equal(r.Tools(), []string{"all"}) })
		r.Write(map[string]string{"o.yaml": gatewaytest.OverlayOf("{target: $.paths.*.get, update: {operationId: every}}")})
		r.Eventually("an overlay that removes less is held", func() bool { return r.State(0).State == admin.Held })
		if s := r.State(0); len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], "o.yaml:4:6: the overlay removed what") || !slices.Equal(r.Tools(), []string{"all"}) {
			t.Errorf("%+v, tools %q", s.Held, r.Tools())
		}
		if err := r.Accept(t.Context(), "a", ""); err != nil {
			t.Fatal(err)
		}
		r.Eventually("it is accepted", func() bool { return slices.Equal(r.Tools(), []string{"every", "purge"}) })
	}
}

// TestRemovalThatSelectsNothing: an overlay that should remove something and selects nothing keeps the first configuration
// from being used, and a newer document with new operations from coming into use.
func TestRemovalThatSelectsNothing(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge))
	cfg := "apis: [{spec: '" + o.URL + "/a.yaml', name: a, refresh: 0s, overlays: [o.yaml]}]\n"
	files := map[string]string{"o.yaml": gatewaytest.OverlayOf(gatewaytest.RemoveAdmin), "drawbridge.yaml": cfg}
	r := gatewaytest.Run(t, files)
	r.Served()
	reload := func() {
		t.Helper()
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o.Set(gatewaytest.Tagged("A", gatewaytest.List, "POST /purge purge administration", "GET /count count public"))
	reload()
	r.Eventually("it is held", func() bool { return r.State(0).State == admin.Held })
	if s := r.State(0); len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], "o.yaml:4:6: the target") || !strings.Contains(s.Held.Restrictions[0], "new operations: GET /count, POST /purge") {
		t.Errorf("%+v", s.Held)
	}
	if got := r.Tools(); !slices.Equal(got, []string{"list"}) {
		t.Errorf("tools %q", got)
	}
	o.Set(gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge, "GET /count count public"))
	reload()
	r.Eventually("it is in use", func() bool { return slices.Equal(r.Tools(), []string{"count", "list"}) })

	// What is removed may be gone from the document.
	o.Set(gatewaytest.Tagged("A", gatewaytest.List, "GET /count count public"))
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "o.yaml:4:6: the target") {
		t.Errorf("Reload = %v", err)
	}
	r.Write(map[string]string{"o.yaml": gatewaytest.OverlayOf(strings.Replace(gatewaytest.RemoveAdmin, "}", ", x-mcp-optional: true}", 1))})
	reload()

	dir := t.TempDir()
	refused := &gatewaytest.Running{T: t, Dir: dir}
	files["drawbridge.yaml"] = strings.Replace(cfg, o.URL+"/", "", 1)
	files["a.yaml"] = gatewaytest.Tagged("A", gatewaytest.List)
	refused.Write(files)
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	var refusal *config.Refusal
	if err := g.Run(t.Context()); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "o.yaml:4:6: the target") {
		t.Errorf("Run = %v", err)
	}
}

// TestOverlaysOfADirectory: a removal has to select something in one document of a directory, whichever.
func TestOverlaysOfADirectory(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"apis/a.yaml": gatewaytest.Tagged("A", gatewaytest.List, gatewaytest.Purge), "apis/b.yaml": gatewaytest.Tagged("B", "GET /items items public"), "o.yaml": gatewaytest.OverlayOf(gatewaytest.RemoveAdmin),
		"drawbridge.yaml": "apis: [{spec: apis, overlays: [o.yaml]}]\ntools: {prefix: never}\n"})
	r.Served()
	r.Eventually("both are served", func() bool { return slices.Equal(r.Tools(), []string{"items", "list"}) })
	r.Write(map[string]string{"o.yaml": gatewaytest.OverlayOf(strings.Replace(gatewaytest.RemoveAdmin, "admin", "admins", 1))})
	err := r.Reload(t.Context())
	if err == nil || strings.Count(err.Error(), "the target") != 1 {
		t.Errorf("Reload = %v", err)
	}
}
