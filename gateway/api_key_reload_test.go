package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// TestAPIKeyIsRevoked: keys come and go with a reload. A revoked one ends the streams and the session of its caller at once, as a
// token of an issuer that is gone does, and a rotation accepts both in between.
func TestAPIKeyIsRevoked(t *testing.T) {
	first, second := auth.NewAPIKey(), auth.NewAPIKey()
	written := func(keys ...string) map[string]string {
		var hashes []string
		for _, key := range keys {
			hashes = append(hashes, fmt.Sprintf("%q", config.NewKeyHash(auth.HashAPIKey(key))))
		}
		return map[string]string{"drawbridge.yaml": fmt.Sprintf("auth: {keys: [{name: ci, hash: [%s], scopes: [read]}], default_scopes: [read]}\n"+
			"apis: [{name: a, spec: a.yaml, base_url: \"http://127.0.0.1:1\"}]\n", strings.Join(hashes, ", "))}
	}
	files := written(first)
	files["a.yaml"] = gatewaytest.Document("A", "list")
	r := gatewaytest.Run(t, files)
	r.Served()
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	reload := func(keys ...string) {
		t.Helper()
		r.Write(written(keys...))
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	status := func(session *gatewaytest.Client) int { return session.Send("tools/list", "", "").Code }

	modern, old := gatewaytest.Listen(t, server, "/mcp", "2026-07-28", first), gatewaytest.Listen(t, server, "/mcp", "2025-11-25", first)
	session := gatewaytest.NewClient(t, r.Handler(), "2025-11-25", first)
	if code := status(session); code != http.StatusOK {
		t.Fatal(code)
	}
	reload(first, second)
	modern.Want("result")
	modern.Want("end")
	old.Want("end")
	modern = gatewaytest.Listen(t, server, "/mcp", "2026-07-28", first)
	for _, key := range []string{first, second} {
		if code := status(gatewaytest.NewClient(t, r.Handler(), "2026-07-28", key)); code != http.StatusOK {
			t.Errorf("in the rotation: %d", code)
		}
	}
	if code := status(session); code != http.StatusOK {
		t.Errorf("the session in the rotation: %d", code)
	}
	reload(second)
	modern.Want("result")
	modern.Want("end")
	if code := status(session); code != http.StatusUnauthorized {
		t.Errorf("the session after the rotation: %d", code)
	}
	if code := status(gatewaytest.NewClient(t, r.Handler(), "2026-07-28", second)); code != http.StatusOK {
		t.Errorf("the new key: %d", code)
	}
}
