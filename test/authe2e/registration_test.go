package authe2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/cmd/drawbridge/demo"
	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// The providers without registration, in front of which the gateway registers clients.
const (
	oidcWithoutRegistration = "oidc-provider without registration"
	entraLike               = "auth/authtest that refuses resource"
)

// front is a gateway that registers clients, with a replica under the same public URL.
type front struct {
	*world
	replica string // its address
	restart func(*testing.T)
}

// testRegistration: clients register and log in at the gateway, in front of providers where they can't. What they hold is good after
// a restart and at another replica.
func testRegistration(t *testing.T, s *suite) {
	for _, provider := range []string{oidcWithoutRegistration, entraLike} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, s, provider)
			clients := []string{sdkV1, clientV2, goSDK}
			held := map[string]state{}
			for _, client := range clients { // one after the other: the restart is for all
				t.Run(client, func(t *testing.T) {
					s.table.note(t, "login at the gateway", provider, client)
					held[client] = f.login(t, client)
				})
			}
			t.Run(inspector, func(t *testing.T) {
				s.table.note(t, "login at the gateway", provider, inspector)
				s.inspectAnew(t, f.world)
			})
			for _, client := range []string{pythonSDK, mcpRemote} {
				t.Run(client, func(t *testing.T) {
					s.table.note(t, "login at the gateway", provider, client)
					f.runProgram(t, client)
				})
			}
			for _, client := range clients {
				s.table.note(t, "refresh at another replica", provider, client)
				held[client] = f.refresh(t, f.replica, held[client])
			}
			f.restart(t)
			for _, client := range clients {
				s.table.note(t, "refresh after a restart", provider, client)
				f.refresh(t, strings.TrimPrefix(strings.TrimSuffix(f.endpoint, "/mcp"), "http://"), held[client])
			}
		})
	}
}

// login logs in, calls a tool, and steps up for another.
func (f *front) login(t *testing.T, client string) state {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := f.newSession(t, client, choices{refresh: true})
	if err := s.connect(ctx); err != nil {
		t.Fatalf("connect: %v", err)
	}
	tools, err := s.tools(ctx)
	if err != nil || !slices.Contains(tools, reading.tool) {
		t.Fatalf("tools: %q, %v", tools, err)
	}
	reading.make(ctx, t, s)
	if client != sdkV1 { // with a refresh token it refreshes in vain where it should ask for more
		writing.make(ctx, t, s)
	}
	st := f.look(ctx, t, s)
	_, claims := decode(t, st.Access)
	if claims["iss"] != f.issuer || st.Refresh == "" || st.ClientID == "gateway" || strings.Contains(st.Refresh, ".") {
		t.Errorf("iss %v, client %q, refresh token %q", claims["iss"], st.ClientID, st.Refresh)
	}
	return st
}

// Programs that log in by themselves and name the page that the user goes to.
const (
	pythonSDK = "python-sdk"
	mcpRemote = "mcp-remote"
)

// runProgram has a program log in, and call a tool.
func (f *front) runProgram(t *testing.T, client string) {
	t.Helper()
	defer f.suite.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	user, err := newGoSession(f.endpoint, choices{})
	if err != nil {
		t.Fatal(err)
	}
	defer user.close(ctx)
	address := f.suite.address(t)
	user.door = "http://" + address + "/oauth/callback"
	var c *exec.Cmd
	page := "VISIT "
	if client == pythonSDK {
		python := os.Getenv("AUTH_E2E_PYTHON")
		if python == "" {
			t.Skip("AUTH_E2E_PYTHON is not set")
		}
		c = exec.CommandContext(ctx, python, filepath.Join(f.suite.folder, "client.py"), f.endpoint, user.door)
	} else {
		_, port, _ := strings.Cut(address, ":")
		main := filepath.Join(f.suite.folder, "node_modules", "mcp-remote", "dist", "proxy.js")
		c = exec.CommandContext(ctx, nodeIn(f.suite.folder), main, f.endpoint, port, "--host", "127.0.0.1", "--allow-http", "--transport", "http-only")
		page = "http://"
	}
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "BROWSER=true", "PATH="+t.TempDir()) // no browser opens but ours
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		_ = in.Close()
	}()
	write := func(line string) {
		if _, err := io.WriteString(stdin, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	if client == mcpRemote {
		write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"authe2e","version":"1"}}}`)
	}
	var said strings.Builder
	got := false
	for lines := bufio.NewScanner(out); !got && lines.Scan(); {
		line := lines.Text()
		said.WriteString(line + "\n")
		_, rest, found := strings.Cut(line, page)
		switch {
		case found && strings.Contains(line, "/authorize?"):
			answer, err := user.browse(ctx, "http://"+strings.TrimPrefix(strings.TrimSpace(rest), "http://"))
			if err != nil {
				t.Error(err)
				_ = c.Process.Kill()
				continue
			}
			f.secrets.add("a code", answer.Get("code"))
			if back := user.door + "?" + answer.Encode(); client == pythonSDK {
				write(back)
			} else if _, status, err := f.get(ctx, back); err != nil || status != http.StatusOK {
				t.Errorf("the client's door: %d, %v", status, err)
			}
		case strings.HasPrefix(line, `{"jsonrpc"`) && strings.Contains(line, `"id":1`) || strings.HasPrefix(line, `{"result"`) && strings.Contains(line, `"id":1`):
			write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + reading.tool + `","arguments":{"order_no":"SO 1001"}}}`)
		case strings.Contains(line, "SO 1001") && strings.Contains(line, "content"):
			got = true
		}
	}
	if !got {
		t.Errorf("it got no order:\n%.4000s", said.String())
	}
	_ = stdin.Close()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if client == mcpRemote {
		_ = c.Process.Kill() // it goes on serving
	}
	_ = timebox.Receive(t, ended) // mcp-remote was killed
}

// refresh refreshes at an address of the gateway.
func (f *front) refresh(t *testing.T, address string, st state) state {
	t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {st.ClientID}, "refresh_token": {st.Refresh}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	text, status, err := f.do(r)
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || status != http.StatusOK || got.Access == "" || got.Refresh == "" || got.Refresh == st.Refresh {
		t.Fatalf("refresh at %s: %v, status %d, %s", address, err, status, text)
	}
	f.secrets.add("a refreshed token", got.Access, got.Refresh)
	st.Access, st.Refresh = got.Access, got.Refresh
	return st
}

// newFront starts a gateway, its replica and their provider.
func newFront(t *testing.T, s *suite, provider string) *front {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	f := &front{world: &world{suite: s}, replica: s.address(t)}
	service := httptest.NewServer(f.requests.listening(demo.NewService(nil)))
	t.Cleanup(service.Close)
	listen := s.address(t)
	f.endpoint, f.admin = "http://"+listen+"/mcp", s.address(t)
	secret := newSecret()
	want := terms{resource: f.endpoint, life: 10 * time.Minute, secret: secret, callback: "http://" + listen + "/oauth/callback"}
	var err error
	prefix := ""
	if provider == oidcWithoutRegistration {
		f.auth, err = startForeign(ctx, s.provider, want)
	} else {
		f.auth, err = startOwn(want, nil)
		prefix = fmt.Sprintf(", scope_prefix: %q", entraPrefix)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.auth.close(); err != nil {
			t.Error(err)
		}
	})
	f.issuer = f.auth.issuer()
	dir := t.TempDir()
	key := filepath.Join(dir, "seal.key")
	if err := os.WriteFile(filepath.Join(dir, "shop"), []byte(demo.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(name, listen, admin string) *process.Child {
		file := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf(registrationConfiguration, listen, strings.TrimSuffix(f.endpoint, "/mcp"), key, admin, f.issuer, f.endpoint, secret, prefix,
			service.URL+demo.DocumentPath, filepath.Join(dir, "shop"))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		child, err := process.Start(context.WithoutCancel(ctx), s.program, "serve", "--config", file)
		if err != nil {
			t.Fatal(err)
		}
		own := &world{suite: s, admin: admin}
		if err := child.Await(ctx, own.ready); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return child
	}
	main := serve("gateway", listen, f.admin)
	replica := serve("replica", f.replica, s.address(t))
	t.Cleanup(func() {
		for _, child := range []*process.Child{main, replica} {
			if err := child.Stop(); err != nil {
				t.Error(err)
			}
			for _, found := range f.secrets.find([]byte(child.Log())) {
				t.Errorf("the log holds %s", found)
			}
			if t.Failed() {
				t.Logf("%.20000s", child.Log())
			}
		}
	})
	f.restart = func(t *testing.T) {
		t.Helper()
		if err := main.Stop(); err != nil {
			t.Fatal(err)
		}
		main = serve("gateway", listen, f.admin)
	}
	return f
}

const registrationConfiguration = `server: {listen: %q, public_url: %q, seal_key_file: %q, shutdown_delay: 0s, drain_timeout: 2s}
admin: {listen: %q}
telemetry: {log_level: debug}
auth:
  issuers: [{issuer: %q, audiences: [%q]}]
  default_scopes: [orders:read]
  implies:
    orders:admin: [orders:write]
    orders:write: [orders:read]
  registration: {client_id: gateway, client_secret: %q%s}
limits: {principal_rate: off}
rules:
  - match: {method: PUT}
    set: {scopes: [orders:write]}
apis:
  - spec: %q
    credential: {type: api_key, in: header, name: X-Shop-Key, value: "${file:%s}"}
`
