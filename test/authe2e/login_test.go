package authe2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The tools that the scenarios call, by the scope that they need.
var (
	reading    = call{"getOrder", map[string]any{"order_no": "SO 1001"}, false}
	writing    = call{"updateOrder", map[string]any{"order_no": "SO 1001", "note": "at the gate"}, false}
	cancelling = call{"cancelOrder", map[string]any{"order_no": "SO 9999"}, true} // that order does not exist, says the service
)

type call struct {
	tool      string
	arguments map[string]any
	isError   bool
}

// make makes a call that has to work.
func (c call) make(ctx context.Context, t *testing.T, s session) {
	t.Helper()
	o, err := s.call(ctx, c.tool, c.arguments)
	if err != nil {
		t.Fatalf("%s: %v", c.tool, err)
	}
	if o.IsError != c.isError {
		t.Errorf("%s: isError %t, %.300s", c.tool, o.IsError, o.text())
	}
}

// The whole way in, from nothing but the endpoint's address: 401, metadata, registration, consent, a token for this
// resource; the list, a call; then calls that need more, each of which asks for what the token had and what the call needs.
func testLogin(t *testing.T, s *suite) {
	for _, way := range []struct {
		name    string
		servers []string
		choices func(*documents) choices
		public  bool
	}{
		{"registration", []string{oidcProvider, ownServer, demoProgram}, func(*documents) choices { return choices{} }, true},
		{"registration with a secret", []string{oidcProvider}, func(*documents) choices { return choices{secret: true} }, false},
		{"metadata document", []string{oidcProvider, ownServer}, func(d *documents) choices { return choices{document: d.server.URL + "/client.json"} }, true},
	} {
		for _, server := range way.servers {
			t.Run(way.name+"/"+server, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, s, setup{server: server})
				s.each(t, "login, "+way.name, server, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
					login(t, w, client, way.choices(s.documents))
				})
			})
		}
	}
}

func login(t *testing.T, w *world, client string, c choices) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.refresh = client != sdkV1 && c.document == "" // v1 with a refresh token refreshes in vain, where it should ask for more
	s := w.newSession(t, client, c)
	if err := s.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	tools, err := s.tools(ctx)
	if err != nil {
		t.Fatalf("tools: %v", err)
	}
	for _, c := range []call{reading, writing, cancelling} {
		if !slices.Contains(tools, c.tool) {
			t.Errorf("%s is not among the tools %q", c.tool, tools)
		}
		c.make(ctx, t, s)
	}
	st := w.look(ctx, t, s)
	want := []string{scopes[0], strings.Join(scopes[:2], " "), strings.Join(scopes, " ")}
	if diff := cmp.Diff(want, st.Asked); diff != "" {
		t.Errorf("scopes asked for (-want +got):\n%s", diff)
	}
	if st.Scope != want[2] {
		t.Errorf("scope of the token: %q", st.Scope)
	}
	switch {
	case c.document != "" && (st.Registrations != 0 || st.ClientID != c.document):
		t.Errorf("%d registrations, client_id %q, though there is a document %s", st.Registrations, st.ClientID, c.document)
	case c.document == "" && client != goSDK && st.Registrations != 1: // the Go SDK registers each time
		t.Errorf("%d registrations", st.Registrations)
	}
	header, claims := decode(t, st.Access)
	if !strings.EqualFold(header["typ"].(string), "at+jwt") || claims["aud"] != w.endpoint || claims["iss"] != w.issuer {
		t.Errorf("the token has typ %v, aud %v, iss %v", header["typ"], claims["aud"], claims["iss"])
	}
}

// decode reads a JWT without verifying it.
func decode(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("the token has %d parts", len(parts))
	}
	for i, to := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatalf("part %d of the token: %v", i, err)
		}
	}
	return header, claims
}
