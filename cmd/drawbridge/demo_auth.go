package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/gateway/origin"
)

// demoScopes are what the demo's tools need; demoAuth says which needs which.
func demoScopes() []authtest.Scope {
	return []authtest.Scope{
		{Name: "orders:read", Description: "see orders, stock and customers"},
		{Name: "orders:write", Description: "place, change and pay orders"},
		{Name: "orders:admin", Description: "cancel orders"},
	}
}

// demoAuth is the part of the configuration that asks for tokens.
const demoAuth = `auth:
  issuers:
    - issuer: %s
  default_scopes: [orders:read]  # what a tool needs that no rule names
  implies:
    orders:admin: [orders:write]
    orders:write: [orders:read]
rules:
  - match: {method: POST}
    set: {scopes: [orders:write]}
  - match: {method: PUT}
    set: {scopes: [orders:write]}
  - match: {method: PATCH}
    set: {scopes: [orders:write]}
  - match: {method: DELETE}
    set: {scopes: [orders:admin]}
`

// demoTokenLife is how long the demo's tokens live.
const demoTokenLife = time.Hour

// demoIssuer is where the authorization server listens if nobody else does: clients remember the address.
const demoIssuer = "127.0.0.1:8081"

// startIssuer starts the authorization server for the gateway at an address.
func (d *demonstration) startIssuer(listen string) (*authtest.Server, error) {
	resource := "http://" + listen + "/mcp"
	o := authtest.Options{
		Address: demoIssuer,
		Scopes:  demoScopes(), DefaultScopes: []string{"orders:read"},
		Resources: []string{resource}, DefaultResource: resource,
		// With refresh tokens, clients of the TypeScript SDK v1 would not ask for more scopes, which is what there is to see.
		NoRefreshTokens: true, AccessLife: demoTokenLife,
		UnknownClients: true, // editors name themselves by a document on the Internet, and clients outlive the demo
		Logger:         slog.New(slog.NewTextHandler(d.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	s, err := authtest.Start(o)
	if err != nil { // most likely the port is taken
		o.Address = ""
		s, err = authtest.Start(o)
	}
	return s, err
}

// checkLoopback refuses to offer the gateway to others: nobody needs a token, and whoever reaches the demo's login gets one.
func (d *demonstration) checkLoopback(c *cobra.Command) error {
	host, _, err := net.SplitHostPort(d.listen)
	if err != nil {
		return usageError{fmt.Errorf("demo: --listen %q must be host:port, such as 127.0.0.1:8080", d.listen), c}
	}
	if origin.Loopback(host) {
		return nil
	}
	why := "nobody needs a token here"
	if d.auth {
		why = "with --auth everybody who reaches it could log in"
	}
	return usageError{fmt.Errorf("demo: --listen %q is not loopback: %s; to serve others, write a configuration and use serve", d.listen, why), c}
}

// showAuth calls with no token, with a token, and with one that lacks a scope, and tells how to log in.
func (d *demonstration) showAuth(ctx context.Context, url, tool string, arguments json.RawMessage) (*reply, error) {
	none, err := post(ctx, url, "", tool, arguments)
	if err != nil {
		return nil, err
	}
	token, err := d.issuer.Issue(authtest.Token{ClientID: "demo", Scopes: []string{"orders:read"}, Life: demoTokenLife})
	if err != nil {
		return nil, err
	}
	d.token = token
	good, err := post(ctx, url, token, tool, arguments)
	if err != nil {
		return nil, err
	}
	const higher = "createOrder"
	refused, err := post(ctx, url, token, higher, json.RawMessage(`{"body": {"customer_id": 9007199254740993, "lines": [{"sku": "ROPE-12", "quantity": 3}], "note": null}}`))
	if err != nil {
		return nil, err
	}
	d.say("\n   Without a token the answer tells a client where to get one:\n\n%s", indent(none.status+"\nWWW-Authenticate: "+none.challenge))
	d.say("   With a token for orders:read it is answered, see below. %s needs more; the answer tells a client what to ask for:\n\n%s",
		higher, strings.TrimSuffix(indent(refused.status+"\nWWW-Authenticate: "+refused.challenge), "\n"))
	return good, nil
}

// sayLogin tells how to log in.
func (d *demonstration) sayLogin() {
	d.say(`5. Log in. The authorization server is %s: it registers any client and asks you on a page, without a password.

   A client that can log in does so by itself: Claude Code, VS Code, the window of MCP Inspector. Allow orders:read and
   list orders, then place one: the client asks again, for orders:write, and the page tells what is new.

   For others here is a token for orders:read, good for an hour:

TOKEN=%s
`, d.issuer.Issuer(), d.token)
}

// scopes is what a tool needs, as a column.
func (d *demonstration) scopes(p *gateway.Plan) string {
	if !d.auth {
		return ""
	}
	scopes := p.Scopes[0] // the demonstration's rules name one set
	if len(scopes) == 0 {
		return fmt.Sprintf("%-13s", "orders:read") // the default
	}
	return fmt.Sprintf("%-13s", strings.Join(scopes, " "))
}
