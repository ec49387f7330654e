package gateway

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/admin"
)

// overlayOf returns an overlay of version 1.1 with these actions.
func overlayOf(actions ...string) string {
	return "overlay: 1.1.0\ninfo: {title: T, version: '1'}\nactions:\n  - " + strings.Join(actions, "\n  - ") + "\n"
}

const (
	removeAdmin = "{target: \"$.paths.*[?@.tags[0] == 'admin']\", remove: true}"
	list        = "GET /list list public"
	purge       = "POST /purge purge admin"
)

// TestOverlaidDocumentChanges: an overlay is applied to each newer document; while it can't be read or applied, the last
// good document goes on, whose hidden operations stay hidden.
func TestOverlaidDocumentChanges(t *testing.T) {
	document, overlay := newChanging(t, tagged("A", list, purge)), newChanging(t, overlayOf(removeAdmin))
	r := run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: '" + document.URL + "/a.yaml', name: a, refresh: 100ms, overlays: ['" + overlay.URL + "/o.yaml?key=hidden-key']}]\n"})
	r.served()
	has := func(want ...string) func() bool { return func() bool { return slices.Equal(r.tools(), want) } }
	r.eventually("the overlay is applied", has("list"))
	document.set(tagged("A", list, purge, "GET /count count public", "POST /drop drop admin"))
	r.eventually("the newer document is overlaid", has("count", "list"))

	stale := func() bool { return r.state(0).State == admin.Stale }
	for what, text := range map[string]string{"gone": "", "broken": "overlay: 1.1.0\n", "not applicable": overlayOf(removeAdmin, "{target: $.info, update: 1}")} {
		overlay.set(text)
		document.set(tagged("A", list, purge, "GET /more more public"))
		r.eventually("the overlay is "+what, stale)
		if e := r.state(0).Error; strings.Contains(e, "hidden-key") || !strings.Contains(e, "o.yaml") {
			t.Errorf("%s: %s", what, e)
		}
		if got := r.tools(); !slices.Equal(got, []string{"count", "list"}) {
			t.Errorf("%s: tools %q", what, got)
		}
		document.set(tagged("A", list, purge, "GET /count count public"))
		overlay.set(overlayOf(removeAdmin))
		r.eventually("it is back", func() bool { return r.state(0).State == admin.Ready })
	}
	overlay.set(overlayOf(removeAdmin, "{target: $.paths.*.get, update: {operationId: renamed}}"))
	r.eventually("another overlay on the same document", func() bool { return !has("count", "list")() })
}

// TestOverlayFilesAreWatched: a changed overlay is applied though the document comes from a URL and is never fetched again.
func TestOverlayFilesAreWatched(t *testing.T) {
	for _, remote := range []bool{true, false} {
		document, spec := newChanging(t, tagged("A", list, purge)), "a.yaml"
		if remote {
			spec = document.URL + "/a.yaml"
		}
		r := run(t, map[string]string{"a.yaml": tagged("A", list, purge), "o.yaml": overlayOf(removeAdmin),
			"drawbridge.yaml": "apis: [{spec: '" + spec + "', name: a, refresh: 0s, overlays: [o.yaml]}]\n"})
		r.served()
		r.eventually("the overlay is applied", func() bool { return slices.Equal(r.tools(), []string{"list"}) })
		r.write(map[string]string{"o.yaml": overlayOf(removeAdmin, "{target: $.paths.*.get, update: {operationId: all}}")})
		r.eventually("the changed overlay is applied", func() bool { return slices.Equal(r.tools(), []string{"all"}) })
		r.write(map[string]string{"o.yaml": overlayOf("{target: $.paths.*.get, update: {operationId: every}}")})
		r.eventually("an overlay that removes less is held", func() bool { return r.state(0).State == admin.Held })
		if s := r.state(0); len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], "o.yaml:4:6: the overlay removed what") || !slices.Equal(r.tools(), []string{"all"}) {
			t.Errorf("%+v, tools %q", s.Held, r.tools())
		}
		if err := r.Accept(t.Context(), "a", ""); err != nil {
			t.Fatal(err)
		}
		r.eventually("it is accepted", func() bool { return slices.Equal(r.tools(), []string{"every", "purge"}) })
	}
}

// TestRemovalThatSelectsNothing: an overlay that should remove something and selects nothing keeps the first configuration
// from being used, and a newer document with new operations from coming into use.
func TestRemovalThatSelectsNothing(t *testing.T) {
	o := newChanging(t, tagged("A", list, purge))
	cfg := "apis: [{spec: '" + o.URL + "/a.yaml', name: a, refresh: 0s, overlays: [o.yaml]}]\n"
	files := map[string]string{"o.yaml": overlayOf(removeAdmin), "drawbridge.yaml": cfg}
	r := run(t, files)
	r.served()
	reload := func() {
		t.Helper()
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o.set(tagged("A", list, "POST /purge purge administration", "GET /count count public"))
	reload()
	r.eventually("it is held", func() bool { return r.state(0).State == admin.Held })
	if s := r.state(0); len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], "o.yaml:4:6: the target") || !strings.Contains(s.Held.Restrictions[0], "new operations: GET /count, POST /purge") {
		t.Errorf("%+v", s.Held)
	}
	if got := r.tools(); !slices.Equal(got, []string{"list"}) {
		t.Errorf("tools %q", got)
	}
	o.set(tagged("A", list, purge, "GET /count count public"))
	reload()
	r.eventually("it is in use", func() bool { return slices.Equal(r.tools(), []string{"count", "list"}) })

	// What is removed may be gone from the document.
	o.set(tagged("A", list, "GET /count count public"))
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "o.yaml:4:6: the target") {
		t.Errorf("Reload = %v", err)
	}
	r.write(map[string]string{"o.yaml": overlayOf(strings.Replace(removeAdmin, "}", ", x-mcp-optional: true}", 1))})
	reload()

	dir := t.TempDir()
	refused := &running{t: t, dir: dir}
	files["drawbridge.yaml"] = strings.Replace(cfg, o.URL+"/", "", 1)
	files["a.yaml"] = tagged("A", list)
	refused.write(files)
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := New(Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	var refusal *config.Refusal
	if err := g.Run(t.Context()); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "o.yaml:4:6: the target") {
		t.Errorf("Run = %v", err)
	}
}

// TestStoredOverlays: a stored document is served as its overlays made it, though neither it nor they can be read; with other
// overlays it is not served.
func TestStoredOverlays(t *testing.T) {
	document, overlay := newChanging(t, tagged("A", list, purge)), newChanging(t, overlayOf(removeAdmin))
	cfg := "server: {state_dir: " + filepath.Join(t.TempDir(), "state") + "}\napis: [{spec: '" + document.URL + "/a.yaml', name: a, refresh: 0s, overlays: ['" + overlay.URL + "/o.yaml']}]\n"
	first := started(t, cfg)
	first.served()
	first.end()
	for what, down := range map[string]*changing{"document": document, "overlay": overlay} {
		text := *down.text.Load()
		down.set("")
		second := started(t, cfg)
		second.served()
		second.eventually("the origin is tried", func() bool { return second.state(0).Error != "" })
		if got := second.tools(); second.state(0).State != admin.Stale || !slices.Equal(got, []string{"list"}) {
			t.Errorf("without the %s: %q, %+v", what, got, second.state(0))
		}
		second.end()
		down.set(text)
	}
	document.set("")
	other := started(t, strings.Replace(cfg, "o.yaml", "another.yaml", 1))
	other.eventually("the origin is tried", func() bool { return other.state(0).Error != "" })
	if got := other.tools(); other.state(0).State != admin.Failed || len(got) > 0 {
		t.Errorf("with another overlay: %q, %+v", got, other.state(0))
	}
}

// TestOverlaysOfADirectory: a removal has to select something in one document of a directory, whichever.
func TestOverlaysOfADirectory(t *testing.T) {
	r := run(t, map[string]string{"apis/a.yaml": tagged("A", list, purge), "apis/b.yaml": tagged("B", "GET /items items public"), "o.yaml": overlayOf(removeAdmin),
		"drawbridge.yaml": "apis: [{spec: apis, overlays: [o.yaml]}]\ntools: {prefix: never}\n"})
	r.served()
	r.eventually("both are served", func() bool { return slices.Equal(r.tools(), []string{"items", "list"}) })
	r.write(map[string]string{"o.yaml": overlayOf(strings.Replace(removeAdmin, "admin", "admins", 1))})
	err := r.Reload(t.Context())
	if err == nil || strings.Count(err.Error(), "the target") != 1 {
		t.Errorf("Reload = %v", err)
	}
}
