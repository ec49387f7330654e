package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/auth/authtest"
	"drawbridge/cmd/drawbridge/demo"
	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) demoCommand() *cobra.Command {
	d := &demonstration{program: p}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a sample legacy service with the gateway in front of it, without any setup",
		Long: `Demo starts a small "legacy" order service with an OpenAPI document, writes the configuration for it, starts the
gateway, makes one call through /mcp and shows what went over the wire. Then it serves until Ctrl-C, so that you
can connect a client of your own. Everything listens on loopback, on free ports where the usual ones are in use,
and nothing remains when it ends.

With --auth it also starts an authorization server, and the gateway requires tokens: reading needs one scope, writing
another, so that you see a complete login and a client that requests more scopes.`,
		Example: `  drawbridge demo
  drawbridge demo --auth
  drawbridge demo --once                                       end after the call, for scripts
  drawbridge demo --service-only --upstream 127.0.0.1:9000     the service alone, for a gateway of your own`,
		Args: noArguments,
	}
	c.Flags().StringVar(&d.listen, "listen", "127.0.0.1:8080", "address of the gateway; if the default is in use, a free port is used instead")
	c.Flags().StringVar(&d.upstream, "upstream", "127.0.0.1:0", "address of the sample service")
	c.Flags().BoolVar(&d.once, "once", false, "end after the call")
	c.Flags().BoolVar(&d.serviceOnly, "service-only", false, "only serve the sample service, at --upstream")
	c.Flags().BoolVar(&d.auth, "auth", false, "require tokens, and start an authorization server that issues them")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d.fixed = c.Flags().Changed("listen")
		if err := d.checkLoopback(c); err != nil && !d.serviceOnly {
			return err
		}
		return d.run(c.Context())
	}
	return c
}

// demonstration is the demo command.
type demonstration struct {
	*program
	listen, upstream  string
	fixed             bool // --listen was given
	once, serviceOnly bool
	auth              bool

	issuer *authtest.Server // with --auth
	token  string           // for clients without OAuth

	operator string // token of the console

	seen atomic.Pointer[string] // the last request that the service received
}

func (d *demonstration) run(ctx context.Context) (err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", d.upstream)
	if err != nil {
		return fmt.Errorf("sample service: %w", err)
	}
	service := &http.Server{Handler: demo.NewService(d.observe), ReadHeaderTimeout: readHeaderTimeout}
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(service, l) }()
	defer func() { err = errors.Join(err, service.Close(), <-ended) }()
	base := "http://" + l.Addr().String()
	d.say("1. A legacy service runs at %s. Its document, with the usual mistakes: %s%s", base, base, demo.DocumentPath)
	if d.serviceOnly {
		d.say("   Calls need the header X-Shop-Key: %s. Ctrl-C ends it.", demo.Key)
		d.awaitEnd(ctx)
		return nil
	}

	dir, err := os.MkdirTemp("", "drawbridge-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	opened, err := d.open(ctx, d.listen)
	if err != nil {
		return err
	}
	defer opened.Close() // in vain once it has served
	listen := opened.Addr().String()
	text := configuration(listen, base, filepath.Join(dir, "state"))
	if d.auth {
		if d.issuer, err = d.startIssuer(listen); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.issuer.Close()) }()
		text += fmt.Sprintf(demoAuth, d.issuer.Issuer())
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	g, cfg, log, err := d.newGateway(file, text)
	if err != nil {
		return err
	}
	s := &server{gateway: g, config: cfg, location: file, log: log.With(slog.String("from", "demo")), signals: d.signals, quick: true, opened: opened, screen: d.console(cfg), colour: colours(d.getenv)}
	if err := s.listen(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.onServing = func(ctx context.Context) error {
		if err := d.show(ctx, g, s, base+demo.DocumentPath); err != nil {
			return err
		}
		if d.once {
			cancel()
		}
		return nil
	}
	return s.run(ctx)
}

// newGateway writes the configuration to a file and makes its gateway.
func (d *demonstration) newGateway(file, text string) (*gateway.Gateway, *config.Config, *slog.Logger, error) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, nil, nil, err
	}
	d.operator = rand.Text()
	environment := func(name string) string {
		switch name {
		case "SHOP_KEY":
			return demo.Key
		case "CONSOLE_TOKEN":
			return d.operator
		}
		return d.getenv(name)
	}
	cfg, problems := config.Load(file, environment)
	for _, problem := range problems {
		fmt.Fprintln(d.stderr, problem)
	}
	if cfg == nil {
		return nil, nil, nil, exitError(exitUsage)
	}
	log, _ := newLogger(d.stderr, cfg.Telemetry, d.getenv)
	g, err := gateway.New(gateway.Options{Config: cfg, Version: version, Logger: log,
		LoadConfig: func(kept *config.Kept) (*config.Config, error) {
			c, problems := config.LoadWith(file, environment, config.LoadOptions{Kept: kept})
			return c, problems.Err()
		}})
	return g, cfg, log, err
}

// configuration returns the configuration that an operator would write.
func configuration(listen, base, state string) string {
	return fmt.Sprintf(`server:
  listen: %q
  shutdown_delay: 0s
  state_dir: %q  # keeps documents, in case they can't be read at a restart
admin:
  listen: 127.0.0.1:0            # a free port
  token: ${CONSOLE_TOKEN}        # signs in to the console; made for this run
telemetry:
  log_level: warn
  log_format: text
apis:
  - name: orders
    spec: %s%s
    credential:                  # sent to the service, never shown to clients
      type: api_key
      in: header
      name: X-Shop-Key
      value: ${SHOP_KEY}
`, listen, state, base, demo.DocumentPath)
}

// open listens at the address, or at one with a free port if the port is in use and was not requested
// explicitly. The listener stays open, so that no other program takes the port before it serves.
func (d *demonstration) open(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil && !d.fixed {
		l, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// show says what the gateway made of the document, makes one call over HTTP, and shows how to connect.
func (d *demonstration) show(ctx context.Context, g *gateway.Gateway, s *server, document string) error {
	api := g.Status().APIs[0]
	url := "http://" + s.public.Addr().String() + "/mcp"
	d.say("2. The gateway read it (OpenAPI %s, %q): %d tools at %s, %d problems repaired.", api.Standard, api.Title, api.Tools, url, api.Problems)
	if !d.once { // else both are gone when somebody reads it
		d.say("   Its configuration: %s. All tools: drawbridge tools %s", s.location, document)
	}

	const tool = "listOrders"
	arguments := json.RawMessage(`{"status":["open","paid"],"filter":{"customer_id":9007199254740993},"page_size":1}`)
	call := func() (*reply, error) { return post(ctx, url, "", tool, arguments) }
	if d.auth {
		d.say("3. A tools/call: %s %s", tool, arguments)
		call = func() (*reply, error) { return d.showAuth(ctx, url, tool, arguments) }
	} else {
		d.say("3. A tools/call:\n\n%s", indent(fmt.Sprintf(`curl -s %s -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}'`,
			url, tool, arguments)))
	}
	answer, err := call()
	if err != nil {
		return err
	}
	if seen := d.seen.Load(); seen != nil {
		d.say("   The service received:\n%s", strings.TrimRight(indent(*seen), "\n"))
	}
	text, err := answer.result()
	if err != nil {
		return err
	}
	d.say("   The client received:\n%s", indent(text))
	inspector := ""
	if d.auth {
		d.sayLogin()
		inspector = ` --header "Authorization: Bearer $TOKEN"`
	}
	d.say(`4. Connect a client of your own to %s
     Claude Code:    claude mcp add --transport http orders %s
     VS Code:        code --add-mcp '{"name":"orders","type":"http","url":"%s"}'
     MCP Inspector:  npx @modelcontextprotocol/inspector --cli %s --transport http --method tools/list%s
   Metrics and the state of the APIs: http://%s/metrics, /apis, /readyz?verbose`, url, url, url, url, inspector, s.admin.Addr())
	if d.once {
		return nil
	}
	d.sayConsole(s.admin.Addr())
	d.say("   Serving until Ctrl-C.")
	return nil
}

// sayConsole says where the console is. Its token is for the person at the terminal, not for a file or a pipe.
func (d *demonstration) sayConsole(admin net.Addr) {
	how := "at a terminal, the demo prints a token for it"
	if terminal.Of(d.stdout) != nil {
		how = "sign in with the token " + d.operator
	}
	d.say("   The console, pages that show what is served and let you try it: http://%s/console (%s)", admin, how)
}

// reply is the response to a call.
type reply struct {
	status, challenge string
	body              []byte
}

// result returns the first text of the result of a call.
func (r *reply) result() (string, error) {
	var message struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(r.body, &message); err != nil || len(message.Result.Content) == 0 {
		return "", fmt.Errorf("the gateway answered %s: %s", r.status, r.body)
	}
	return message.Result.Content[0].Text, nil
}

// post sends a tools/call like a client of the newest revision. An empty token is not sent.
func post(ctx context.Context, url, token, tool string, arguments json.RawMessage) (*reply, error) {
	revision := gateway.Revisions()[0]
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": arguments, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", revision)
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", tool)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	return &reply{resp.Status, resp.Header.Get("WWW-Authenticate"), answer}, nil
}

// observe records the request that the service received, without the key, which is the gateway's
// secret.
func (d *demonstration) observe(r *http.Request) {
	var b strings.Builder
	header := r.Header.Clone()
	if header.Get("X-Shop-Key") != "" {
		header.Set("X-Shop-Key", "(the credential)")
	}
	shown := *r
	shown.Header, shown.Body = header, nil
	if writeRequest(&b, &shown) == nil {
		text := b.String()
		d.seen.Store(&text)
	}
}

func (d *demonstration) awaitEnd(ctx context.Context) {
	for {
		select {
		case sig := <-d.signals:
			if sig != syscall.SIGHUP { // there is nothing to reload
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (d *demonstration) say(format string, args ...any) { fmt.Fprintf(d.stdout, format+"\n", args...) }

func indent(text string) string {
	return "     " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n     ") + "\n"
}
