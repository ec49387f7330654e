package authe2e

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

const chromium = "chromium"

// A real browser, where there is one and BROWSER=1 asks for it: the page of demo --auth in front of its user, and pages
// of other origins that call the gateway.
func testBrowser(t *testing.T, s *suite) {
	path, err := exec.LookPath(chromium)
	if os.Getenv("BROWSER") == "" || err != nil {
		t.Skip("not run: the browser: BROWSER=1 and a chromium in the path are needed")
	}
	browser := s.start(t, []string{"chromium.mjs", path})
	t.Cleanup(func() {
		if err := browser.do(context.WithoutCancel(t.Context()), "quit", nil, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("consent", func(t *testing.T) {
		t.Parallel()
		s.table.note(t, "consent page", demoProgram, chromium)
		consent(t, s, browser)
	})
	t.Run("application", func(t *testing.T) {
		t.Parallel()
		s.table.note(t, "login of a page", demoProgram, chromium)
		application(t, s, browser)
	})
	t.Run("origins", func(t *testing.T) {
		t.Parallel()
		s.table.note(t, "calls of pages (CORS)", ownServer, chromium)
		origins(t, s, browser)
	})
}

// application has a page with the official client in it log in at the demo, list, read, and ask for more to write.
func application(t *testing.T, s *suite, browser *peer) {
	defer s.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := newWorld(t, s, setup{server: demoProgram})
	_, port, _ := strings.Cut(s.address(t), ":")
	var got struct {
		Error         string
		Tools, Visits int
		Read, Written bool // isError
		Scope         string
		Complaints    []string
	}
	if err := browser.do(ctx, "application", map[string]any{"port": port, "endpoint": w.endpoint}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Error != "" || got.Tools != 14 || got.Visits != 3 || got.Read || got.Written || inOrder(got.Scope) != "orders:read orders:write" {
		t.Errorf("the page reports %+v", got)
	}
}

// consent logs the Go SDK's client in by the page, as its user sees it. The step-up shows what is new, and a user who
// leaves that out, or says no, is obeyed.
func consent(t *testing.T, s *suite, browser *peer) {
	defer s.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := newWorld(t, s, setup{server: demoProgram})
	c, err := newGoSession(w.endpoint, choices{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close(context.WithoutCancel(ctx)) })
	var page struct {
		Text       string
		Query      map[string]string
		Complaints []string
	}
	without, button := []string{}, "Allow"
	c.visit = func(ctx context.Context, address string) (url.Values, error) {
		page.Text, page.Query, page.Complaints = "", nil, nil
		err := browser.do(ctx, "consent", map[string]any{"address": address, "redirect": redirect, "without": without, "button": button}, &page)
		query := make(url.Values)
		for name, value := range page.Query {
			query.Set(name, value)
		}
		return query, err
	}
	shows := func(parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(page.Text, part) {
				t.Errorf("the page does not say %q:\n%s", part, page.Text)
			}
		}
		if len(page.Complaints) > 0 {
			t.Errorf("the browser complains of the page: %q", page.Complaints)
		}
	}
	if err := c.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	shows("Allow authe2e?", "asks for no password", w.endpoint, "orders:read: see orders, stock and customers")
	reading.make(ctx, t, c)

	without = []string{"orders:write"}
	if _, err := c.call(ctx, writing.tool, writing.arguments); err == nil {
		t.Error("the call got through though the user left its scope out")
	}
	shows("orders:write: place, change and pay orders new")
	without, button = []string{}, "Deny"
	if _, err := c.call(ctx, writing.tool, writing.arguments); err == nil || page.Query["error"] != "access_denied" {
		t.Errorf("the user said no: the client is told %q, the call %v", page.Query["error"], err)
	}
	button = "Allow"
	writing.make(ctx, t, c)
	shows("orders:write: place, change and pay orders new")
}

// origins has pages call the gateway, from names that are not this machine's. That of an origin which is let in learns from
// the 401 where to log in, reads the metadata of both servers, and calls with a token. Another learns nothing but public
// metadata, whatever it sends; nor does one whose name leads to the gateway itself (DNS rebinding).
func origins(t *testing.T, s *suite, browser *peer) {
	defer s.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, port, _ := strings.Cut(s.address(t), ":")
	welcome := "http://welcome.example:" + port
	w := newWorld(t, s, setup{server: ownServer, origin: welcome})
	token := w.look(ctx, t, w.enter(ctx, t, goSDK)).Access
	r, err := w.newRawCall(ctx, "Bearer "+token)
	if err != nil {
		t.Fatal(err)
	}
	_, gateway, _ := strings.Cut(r.Host, ":")
	headers := make(map[string]string)
	for name := range r.Header {
		headers[name] = r.Header.Get(name)
	}
	without := map[string]string{"Content-Type": "application/json", "Accept": headers["Accept"]}
	simple := map[string]string{"Content-Type": "text/plain"} // sent without asking first
	revision := map[string]string{"MCP-Protocol-Version": "2026-07-28"}
	requests := []map[string]any{
		{"url": w.endpoint, "method": "POST", "headers": without, "body": rawCall},
		{"url": "http://" + r.Host + "/.well-known/oauth-protected-resource/mcp", "headers": revision},
		{"url": w.issuer + "/.well-known/oauth-authorization-server", "headers": revision},
		{"url": w.endpoint, "method": "POST", "headers": headers, "body": rawCall},
		{"url": w.endpoint, "method": "POST", "headers": simple, "body": rawCall},
	}
	type sight struct {
		Status  int // 0: the browser shows the page nothing
		Headers map[string]string
		Body    string
	}
	visit := func(origin string, rebound bool, requests []map[string]any, want ...int) (seen []sight) {
		t.Helper()
		if err := browser.do(ctx, "fetches", map[string]any{"origin": origin, "rebound": rebound, "requests": requests}, &seen); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, s := range seen {
			got = append(got, s.Status)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("a page of %s sees %v, want %v: %+v", origin, got, want, seen)
		}
		return seen
	}

	seen := visit(welcome, false, requests, 401, 200, 200, 200, 401)
	if challenge := seen[0].Headers["www-authenticate"]; !strings.Contains(challenge, `resource_metadata="http://`+r.Host) {
		t.Errorf("the page sees the challenge %q", challenge)
	}
	if !strings.Contains(seen[1].Body, w.issuer) || !strings.Contains(seen[3].Body, "SO 1001") {
		t.Errorf("the page sees %q and %.300q", seen[1].Body, seen[3].Body)
	}

	_, before := w.requests.copy()
	visit("http://stranger.example:"+port, false, requests, 0, 200, 200, 0, 0)
	rebound := "http://rebound.example:" + gateway
	visit(rebound, true, []map[string]any{
		{"url": rebound + "/mcp", "method": "POST", "headers": without, "body": rawCall},
		{"url": rebound + "/mcp", "method": "POST", "headers": headers, "body": rawCall},
	}, 403, 403)
	if _, after := w.requests.copy(); after != before {
		t.Errorf("the service had %d requests of foreign pages", after-before)
	}
}
