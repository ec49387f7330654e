package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
)

// things is a legacy service with one operation, getThing, and an authorization server beside it. Calls for the thing
// "held" wait until the test lets go.
type things struct {
	*httptest.Server
	issuer  *authtest.Server
	arrived chan struct{}
	release chan struct{}
}

func newThings(t *testing.T) *things {
	t.Helper()
	s := &things{arrived: make(chan struct{}, 16), release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.yaml" {
			_, _ = io.WriteString(w, `openapi: 3.1.0
info: {title: Things, version: '1'}
servers: [{url: /}]
paths:
  /things/{id}:
    get:
      operationId: getThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}
`)
			return
		}
		id := strings.TrimPrefix(r.URL.Path, "/things/")
		if id == "held" {
			s.arrived <- struct{}{}
			<-s.release
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q}`, id)
	}))
	t.Cleanup(s.Close)
	var err error
	if s.issuer, err = authtest.Start(authtest.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.issuer.Close() })
	return s
}

// token returns one for a resource.
func (s *things) token(t *testing.T, resource string) string {
	t.Helper()
	token, err := s.issuer.Issue(authtest.Token{Audience: []string{resource}, Scopes: []string{"mcp:tools"}, Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// serve starts a gateway in front of the service, with tokens checked; server are the keys of that section. It ends with
// the test. The result is the process and the address of the admin listener.
func (s *things) serve(ctx context.Context, t *testing.T, program, listen, server string) (gateway *process.Child, admin string) {
	t.Helper()
	admin = address(t)
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(`server: {listen: %q, %s}
admin: {listen: %q}
auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}
apis: [{spec: "%s/openapi.yaml", refresh: 0s, max_in_flight: 200}]
limits: {timeout: 5m, first_byte_timeout: 5m, principal_rate: off}
telemetry: {log_level: debug}
`, listen, server, admin, s.issuer.Issuer(), s.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, err := process.Start(context.WithoutCancel(ctx), program, "serve", "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log := gateway.Log()
			t.Logf("the gateway's last words:\n%s", log[max(0, len(log)-4000):])
		}
	})
	if err := gateway.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
	return gateway, admin
}

// bearer puts the token on each request, as a client's own OAuth handling would.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// connect opens a session of the official Go client.
func connect(ctx context.Context, t *testing.T, endpoint, revision string, transport http.RoundTripper) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: transport},
	}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect with %s: %v", revision, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// getThing calls the tool and tells what is wrong with the outcome.
func getThing(ctx context.Context, session *mcp.ClientSession, id string) error {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "getThing", Arguments: map[string]any{"id": id}})
	if err != nil {
		return err
	}
	if got := fmt.Sprint(result.StructuredContent); result.IsError || got != "map[id:"+id+"]" {
		return fmt.Errorf("call %s: error %v, %s", id, result.IsError, got)
	}
	return nil
}
