package authe2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// redirect is the client's door. Nobody listens there: the browser stops before it.
const redirect = "http://127.0.0.1:33999/callback"

// goSession is a session of the Go SDK's client.
type goSession struct {
	endpoint  string
	handler   *auth.AuthorizationCodeHandler
	transport *http.Transport
	browser   *http.Client
	door      string                                                        // where the browser stops
	visit     func(ctx context.Context, address string) (url.Values, error) // what the user does with a link; by default, browse
	session   *mcp.ClientSession

	mu   sync.Mutex
	seen state
}

func newGoSession(endpoint string, c choices) (*goSession, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &goSession{endpoint: endpoint, door: redirect, transport: &http.Transport{}}
	s.visit = s.browse
	s.browser = &http.Client{
		Jar: jar, Transport: s.transport,
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), s.door) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, AuthorizationCodeFetcher: s.authorize, RequestRefreshToken: c.refresh,
		Client: &http.Client{Transport: ear{s}},
	}
	if c.document != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: c.document}
		s.seen.ClientID = c.document
	} else {
		m := &oauthex.ClientRegistrationMetadata{
			ClientName: "authe2e", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code"}, TokenEndpointAuthMethod: "none",
		}
		if c.refresh {
			m.GrantTypes = append(m.GrantTypes, "refresh_token")
		}
		if c.secret {
			m.TokenEndpointAuthMethod = "client_secret_basic"
		}
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: m}
	}
	s.handler, err = auth.NewAuthorizationCodeHandler(config)
	return s, err
}

// ear is the network of a client, with an ear on what is secret and on what the gateway says.
type ear struct{ s *goSession }

func (e ear) RoundTrip(r *http.Request) (*http.Response, error) {
	s := e.s
	if r.Body != nil && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		s.note(func(st *state) {
			st.Grants = append(st.Grants, form.Get("grant_type"))
			st.Secrets = append(st.Secrets, form.Get("code_verifier"))
		})
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := s.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var said map[string]any
	s.note(func(st *state) {
		// The gateway may be the authorization server as well.
		if strings.HasPrefix(r.URL.String(), strings.TrimSuffix(s.endpoint, "mcp")) && r.URL.Path != "/token" && r.URL.Path != "/register" {
			st.Heard += fmt.Sprintln(resp.Header, string(body))
		} else if json.Unmarshal(body, &said) == nil {
			st.hear(said)
		}
	})
	return resp, err
}

// hear notes an answer of the authorization server.
func (st *state) hear(said map[string]any) {
	member := func(name string) string {
		text, _ := said[name].(string)
		return text
	}
	if member("client_id") != "" && said["redirect_uris"] != nil {
		st.Registrations++
		st.ClientID = member("client_id")
	}
	if token := member("access_token"); token != "" {
		st.Access, st.Refresh, st.Scope, st.Kind = token, member("refresh_token"), member("scope"), member("token_type")
	}
	for _, name := range []string{"access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"} {
		if member(name) != "" {
			st.Secrets = append(st.Secrets, member(name))
		}
	}
}

func (s *goSession) note(f func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.seen)
}

var (
	pageInput  = regexp.MustCompile(`<input type="\w+" name="(\w+)" value="([^"]*)"`)
	pageAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
)

// authorize does what a user does: follow the client's link, allow everything on the page.
func (s *goSession) authorize(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	s.note(func(st *state) { st.Asked = append(st.Asked, u.Query().Get("scope")) })
	answer, err := s.visit(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	s.note(func(st *state) { st.Secrets = append(st.Secrets, answer.Get("code")) })
	return &auth.AuthorizationResult{Code: answer.Get("code"), State: answer.Get("state"), Iss: answer.Get("iss")}, nil
}

// browse opens an address, allows everything, and returns what the client's door is told.
func (s *goSession) browse(ctx context.Context, address string) (url.Values, error) {
	resp, page, err := s.walk(ctx, address)
	if err != nil {
		return nil, err
	}
	location, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the browser stands at %s: %s %s", resp.Request.URL.Path, resp.Status, page)
	}
	return location.Query(), nil
}

// walk opens an address, and goes on until a page that leads nowhere, or the client's door.
func (s *goSession) walk(ctx context.Context, address string) (resp *http.Response, page []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	for range 8 {
		if resp, err = s.browser.Do(r); err != nil {
			return nil, nil, err
		}
		page, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, nil, err
		}
		if _, next, ok := strings.Cut(resp.Header.Get("Refresh"), "url="); ok {
			if r, err = http.NewRequestWithContext(ctx, http.MethodGet, next, nil); err != nil {
				return nil, nil, err
			}
			continue
		}
		action := pageAction.FindSubmatch(page)
		if resp.StatusCode != http.StatusOK || action == nil {
			return resp, page, nil
		}
		form := url.Values{"answer": {"allow"}}
		for _, input := range pageInput.FindAllSubmatch(page, -1) {
			form.Add(string(input[1]), html.UnescapeString(string(input[2])))
		}
		target, err := resp.Request.URL.Parse(html.UnescapeString(string(action[1])))
		if err != nil {
			return nil, nil, err
		}
		if r, err = http.NewRequestWithContext(ctx, http.MethodPost, target.String(), strings.NewReader(form.Encode())); err != nil {
			return nil, nil, err
		}
		r.Header.Set("Origin", target.Scheme+"://"+target.Host) // each page posts to its own server
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return nil, nil, errors.New("the browser is asked again and again")
}

func (s *goSession) connect(ctx context.Context) (err error) {
	s.session, err = mcp.NewClient(&mcp.Implementation{Name: "authe2e", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.endpoint, HTTPClient: &http.Client{Transport: ear{s}}, OAuthHandler: s.handler, MaxRetries: -1,
	}, nil)
	return err
}

func (s *goSession) tools(ctx context.Context) (names []string, err error) {
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s *goSession) call(ctx context.Context, tool string, arguments map[string]any) (o outcome, err error) {
	r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return o, err
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

func (s *goSession) state(context.Context) (state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.seen
	st.Asked = append([]string(nil), st.Asked...)
	s.seen.Secrets, s.seen.Heard = nil, ""
	return st, nil
}

func (s *goSession) close(context.Context) error {
	defer s.transport.CloseIdleConnections()
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}
