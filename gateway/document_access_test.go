package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/test/update"

	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestDocumentAccess holds that a newer document which would give wider access is quarantined, while the gateway runs and after a
// restart, and that one which is as narrow as before, or narrower, comes into use. Accepting the document puts it into use.
func TestDocumentAccess(t *testing.T) {
	files, err := filepath.Glob("testdata/document_access/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := documentAccessCase{t: t, parts: map[string]string{}}
			for _, f := range archive.Files {
				c.parts[f.Name] = string(f.Data)
			}
			running, restarted := c.whileRunning(), c.afterARestart()
			if running != restarted {
				t.Errorf("after a restart:\n%swhile it runs:\n%s", restarted, running)
			}
			if *update.Expected {
				archive.Files[len(archive.Files)-1].Data = []byte(running)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if running != c.parts["held"] {
				t.Errorf("held:\n%swant:\n%s", running, c.parts["held"])
			}
		})
	}
}

// documentAccessCase is a configuration with two versions of a document.
type documentAccessCase struct {
	t     *testing.T
	parts map[string]string
	url   string // of the origin
}

// origin serves the document, and an overlay if the case has one.
func (c *documentAccessCase) origin() (url string, change func()) {
	var changed atomic.Bool
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := map[bool]string{false: "before", true: "after"}[changed.Load()]
		if r.URL.Path == "/overlay.yaml" {
			version += " overlay"
		}
		_, _ = w.Write([]byte(c.parts[version+".yaml"]))
	}))
	c.t.Cleanup(o.Close)
	c.url = o.URL
	return o.URL, func() { changed.Store(true) }
}

func (c *documentAccessCase) configuration(origin, stateDir string) string {
	return strings.NewReplacer("$SPEC", origin+"/a.yaml", "$OVERLAY", origin+"/overlay.yaml", "$STATE", stateDir).Replace(c.parts["drawbridge.yaml"])
}

// whileRunning returns the restrictions that the newer document would undo, when it comes by a refresh.
func (c *documentAccessCase) whileRunning() string {
	origin, change := c.origin()
	r := gatewaytest.Run(c.t, map[string]string{"drawbridge.yaml": c.configuration(origin, filepath.Join(c.t.TempDir(), "state"))})
	r.Served()
	before := strings.Join(r.Tools(), " ")
	change()
	for range 2 { // a reload does not accept what it held
		if err := r.Reload(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
	}
	held := c.held(r)
	if held == "" {
		return ""
	}
	if now := strings.Join(r.Tools(), " "); now != before {
		c.t.Errorf("while the document is held, the tools are %s, and were %s", now, before)
	}
	if err := r.Accept(c.t.Context(), "a", r.State(0).Held.Digest); err != nil || !gatewaytest.InUse(r.State(0)) {
		c.t.Errorf("accept: %v, %+v", err, r.State(0))
	}
	return held
}

// afterARestart returns the same for a gateway that starts with the newer document.
func (c *documentAccessCase) afterARestart() string {
	origin, change := c.origin()
	text := c.configuration(origin, c.t.TempDir())
	first := started(c.t, text)
	first.Served()
	first.end()
	change()
	second := started(c.t, text)
	second.Served()
	second.Eventually("the document is read", func() bool {
		return second.State(0).State == admin.Held || len(gatewaytest.MetricLines(second.Gateway, `drawbridge_api_loads_total{api="a",outcome="changed"} 1`)) == 1
	})
	defer second.end()
	if held := c.heldByCheck(text); held != c.held(second.Running) {
		c.t.Errorf("check says:\n%s", held)
	}
	return c.held(second.Running)
}

// heldByCheck returns the same as a load that serves nothing tells it.
func (c *documentAccessCase) heldByCheck(text string) string {
	r := &gatewaytest.Running{T: c.t, Dir: c.t.TempDir()}
	r.Write(map[string]string{"drawbridge.yaml": text})
	cfg, problems := config.Load(filepath.Join(r.Dir, "drawbridge.yaml"), func(string) string { return "" })
	if cfg == nil {
		c.t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: cfg, CompareStored: true})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err = g.Load(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	r.Gateway = g
	return c.held(r)
}

func (c *documentAccessCase) held(r *gatewaytest.Running) string {
	s := r.State(0)
	switch {
	case gatewaytest.InUse(s):
		return ""
	case s.Held == nil || s.Held.Undone != len(s.Held.Restrictions):
		c.t.Fatalf("%+v", s)
	}
	return strings.NewReplacer(r.Dir+string(filepath.Separator), "", c.url, "$ORIGIN").Replace(strings.Join(s.Held.Restrictions, "\n") + "\n")
}
