package authe2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The clients under test, with the names of their packages.
const (
	sdkV1    = "sdk-v1" // @modelcontextprotocol/sdk
	clientV2 = "client-v2"
	goSDK    = "go-sdk"
)

// choices are what an application tells its client.
type choices struct {
	refresh  bool   // it can keep refresh tokens
	secret   bool   // it can keep a secret
	document string // its metadata document, in place of registration
	dpop     bool   // it proves that it has a key
	client   string // the id of a registered client, in place of registration
	user     *user  // nil if the authorization server does not ask for a password
}

// user is the account with which the browser logs in.
type user struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// session is a client that knows the endpoint's address, and its user with a browser.
type session interface {
	connect(ctx context.Context) error
	tools(ctx context.Context) ([]string, error)
	call(ctx context.Context, tool string, arguments map[string]any) (outcome, error)
	state(ctx context.Context) (state, error)
	close(ctx context.Context) error
}

// outcome is the result of a call.
type outcome struct {
	IsError bool
	Content []struct{ Type, Text string }
}

func (o outcome) text() string {
	if len(o.Content) == 0 {
		return ""
	}
	return o.Content[0].Text
}

// state is what the client has, and what it did to get it.
type state struct {
	Asked           []string // the scopes of each request for authorization
	Registrations   int
	Grants          []string // the kind of each request for tokens
	ClientID        string
	Access, Refresh string
	Scope           string
	Kind            string   // token_type
	Secrets         []string // since the last look
	Heard           string   // what the gateway answered since then
}

// newSession makes a client for the endpoint; it ends with the test.
func (w *world) newSession(t *testing.T, client string, c choices) session {
	t.Helper()
	var s session
	var err error
	if client == goSDK {
		s, err = newGoSession(w.endpoint, c)
	} else {
		s, err = newNodeSession(t.Context(), w.suite.clients, client, w.endpoint, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		w.look(ctx, t, s)
		if err := s.close(ctx); err != nil && !t.Failed() {
			t.Logf("close: %v", err) // its token may have ended
		}
	})
	return s
}

// look returns the state of a session, and notes what is secret in it.
func (w *world) look(ctx context.Context, t *testing.T, s session) state {
	t.Helper()
	st, err := s.state(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.secrets.add("an access token", st.Access)
	w.secrets.add("a refresh token", st.Refresh)
	w.secrets.add("what a client keeps for itself", st.Secrets...)
	w.answers.line(st.Heard)
	for i, list := range st.Asked {
		st.Asked[i] = inOrder(list)
	}
	st.Scope = inOrder(st.Scope)
	return st
}

// inOrder puts scopes in the order of their rights; clients have their own. Without offline_access, which some add.
func inOrder(list string) string {
	names := slices.DeleteFunc(strings.Fields(list), func(name string) bool { return name == "offline_access" })
	slices.SortFunc(names, func(a, b string) int { return slices.Index(scopes, a) - slices.Index(scopes, b) })
	return strings.Join(names, " ")
}

// nodeSession is a session of a TypeScript client.
type nodeSession struct {
	peer *peer
	name string
}

func newNodeSession(ctx context.Context, p *peer, kind, endpoint string, c choices) (*nodeSession, error) {
	s := &nodeSession{p, newSecret()}
	return s, s.do(ctx, "open", map[string]any{
		"kind": kind, "endpoint": endpoint, "refresh": c.refresh, "secret": c.secret, "document": c.document, "dpop": c.dpop,
		"client": c.client, "user": c.user,
	}, nil)
}

func (s *nodeSession) do(ctx context.Context, run string, given map[string]any, out any) error {
	if given == nil {
		given = make(map[string]any)
	}
	given["session"] = s.name
	return s.peer.do(ctx, run, given, out)
}

func (s *nodeSession) connect(ctx context.Context) error { return s.do(ctx, "connect", nil, nil) }
func (s *nodeSession) close(ctx context.Context) error   { return s.do(ctx, "close", nil, nil) }

func (s *nodeSession) tools(ctx context.Context) (names []string, err error) {
	err = s.do(ctx, "tools", nil, &names)
	return names, err
}

func (s *nodeSession) call(ctx context.Context, tool string, arguments map[string]any) (o outcome, err error) {
	var raw json.RawMessage
	if err = s.do(ctx, "call", map[string]any{"tool": tool, "arguments": arguments}, &raw); err == nil {
		err = json.Unmarshal(raw, &o)
	}
	return o, err
}

func (s *nodeSession) state(ctx context.Context) (st state, err error) {
	err = s.do(ctx, "state", nil, &st)
	return st, err
}
