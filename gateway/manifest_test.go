package gateway_test

import (
	"net/http"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestManifestUpdated holds that last_updated is the time of the last change of the tools, and changes with nothing else.
func TestManifestUpdated(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "server: {manifest: true}\napis: [{spec: a.yaml, name: a}]\n", "a.yaml": gatewaytest.Document("A", "list")})
	r.Served()
	read := func() string { return gatewaytest.Do(r.Handler(), http.MethodGet, "/manifest", nil).Body.String() }
	first, then := read(), r.Current().Updated
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := read(); again != first {
		t.Errorf("a reload that changes nothing: %s\nbefore: %s", again, first)
	}
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "list", "show")})
	r.Eventually("the change", func() bool { return len(gatewaytest.Listed(t, []byte(read()))) == 2 })
	if now := r.Current().Updated; !now.After(then) {
		t.Errorf("updated at %v, and then at %v", then, now)
	}
}
