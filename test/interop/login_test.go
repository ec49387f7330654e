package interop

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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"drawbridge/test/process"
)

// asked are the scopes of the pages that a user of any client is shown: each step asks for what the token had and what
// the call needs.
var asked = []string{"orders:read", "orders:read orders:write", "orders:read orders:write orders:admin"}

// startDemo starts the gateway with the demo's authorization server and returns its endpoint.
func startDemo(t *testing.T) string {
	t.Helper()
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	listen := address(t)
	d, err := process.Start(context.WithoutCancel(ctx), program, "demo", "--auth", "--listen", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the demo's last words:\n%s", d.Log())
		}
	})
	err = d.Await(ctx, func(context.Context) error {
		if !strings.Contains(d.Log(), "Serving until Ctrl-C") {
			return errors.New("it has not shown everything yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + listen + "/mcp"
}

var (
	pageInput  = regexp.MustCompile(`<input type="\w+" name="(\w+)" value="([^"]*)"`)
	pageAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
)

// browse does what a user does: look at the page, allow everything on it. It returns what the client is told, and the
// scopes that stood on the page.
func browse(ctx context.Context, address string) (answer url.Values, scopes string, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, "", err
	}
	client := &http.Client{
		Jar: jar, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	do := func(r *http.Request, err error) (*http.Response, string, error) {
		if err != nil {
			return nil, "", err
		}
		resp, err := client.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp, string(text), err
	}
	resp, page, err := do(http.NewRequestWithContext(ctx, http.MethodGet, address, nil))
	if err != nil {
		return nil, "", err
	}
	action := pageAction.FindStringSubmatch(page)
	if resp.StatusCode != http.StatusOK || action == nil {
		return nil, "", fmt.Errorf("the page: %s %s", resp.Status, page)
	}
	form := url.Values{"answer": {"allow"}}
	for _, input := range pageInput.FindAllStringSubmatch(page, -1) {
		form.Add(input[1], html.UnescapeString(input[2]))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, html.UnescapeString(action[1]), strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, page, err = do(r, err)
	if err != nil {
		return nil, "", err
	}
	location, err := resp.Location()
	if err != nil {
		return nil, "", fmt.Errorf("the answer to the page: %s %s", resp.Status, page)
	}
	return location.Query(), strings.Join(form["scope"], " "), nil
}

// The whole login, from nothing but the endpoint's address, and two calls that need more than the token has.
func TestLoginGoSDK(t *testing.T) {
	endpoint := startDemo(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			const redirect = "http://127.0.0.1:33999/callback"
			var pages []string
			handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
					ClientName: "interop", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
				}},
				RedirectURL: redirect,
				AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
					answer, scopes, err := browse(ctx, args.URL)
					pages = append(pages, scopes)
					return &auth.AuthorizationResult{Code: answer.Get("code"), State: answer.Get("state"), Iss: answer.Get("iss")}, err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
				Endpoint: endpoint, HTTPClient: &http.Client{Transport: transport}, OAuthHandler: handler, MaxRetries: -1,
			}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("connect: %v", err)
			}
			defer session.Close()
			for _, call := range []struct {
				name      string
				arguments map[string]any
			}{
				{"getOrder", map[string]any{"order_no": "SO 1001"}},
				{"updateOrder", map[string]any{"order_no": "SO 1001", "note": "at the gate"}},
				{"cancelOrder", map[string]any{"order_no": "SO 9999"}},
			} {
				r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call.name, Arguments: call.arguments})
				if err != nil {
					t.Fatalf("%s: %v", call.name, err)
				}
				if r.IsError != (call.name == "cancelOrder") { // that order does not exist, says the service
					t.Errorf("%s: isError %t %v", call.name, r.IsError, r.StructuredContent)
				}
			}
			for i, page := range pages { // the order of scopes is the client's
				pages[i] = inOrder(page)
			}
			if diff := cmp.Diff(asked, pages); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

func inOrder(scopes string) string {
	list := strings.Fields(scopes)
	all := strings.Fields(asked[len(asked)-1])
	slices.SortFunc(list, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) })
	return strings.Join(list, " ")
}

func TestLoginTypeScript(t *testing.T) {
	folder := os.Getenv(clientsVariable)
	if folder == "" {
		t.Skipf("%s is not set; make interop installs the clients and sets it", clientsVariable)
	}
	endpoint := startDemo(t)
	for _, client := range []string{"v1", "v2"} {
		t.Run(client, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "node", filepath.Join(folder, "login.mjs"), endpoint, client)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("client: %v\n%s", err, stderr.String())
			}
			var got struct {
				Asked                    []string
				Tools                    int
				Scope                    string
				Read, Written, Cancelled toolResult
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("decode the client's report: %v\n%s", err, out)
			}
			for i, page := range got.Asked {
				got.Asked[i] = inOrder(page)
			}
			if diff := cmp.Diff(asked, got.Asked); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
			if got.Tools != len(tools) || inOrder(got.Scope) != asked[2] || got.Read.IsError || got.Written.IsError || !got.Cancelled.IsError {
				t.Errorf("%d tools, scope %q, read %s, written %s, cancelled %s", got.Tools, got.Scope, got.Read.first(), got.Written.first(), got.Cancelled.first())
			}
		})
	}
}
