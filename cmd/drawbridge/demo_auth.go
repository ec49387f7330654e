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
	"drawbridge/config"
	"drawbridge/openapi/origin"
)

// demoScopes are the scopes of the demo's tools; demoAuth assigns them.
func demoScopes() []authtest.Scope {
	return []authtest.Scope{
		{Name: "orders:read", Description: "see orders, stock and customers"},
		{Name: "orders:write", Description: "place, change and pay orders"},
		{Name: "orders:admin", Description: "cancel orders"},
	}
}

// demoAuth is the part of the configuration that requires tokens.
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

// demoTokenLife is the lifetime of the demo's tokens.
const demoTokenLife = time.Hour

// demoIssuer is the preferred address of the authorization server, fixed because clients remember
// it.
const demoIssuer = "127.0.0.1:8081"

// startIssuer starts the authorization server for a gateway address.
func (d *demonstration) startIssuer(listen string) (*authtest.Server, error) {
	gateway := config.Config{Server: config.Server{Listen: config.Address(listen)}}
	resources := gateway.Resources()
	o := authtest.Options{
		Address: demoIssuer,
		Scopes:  demoScopes(), DefaultScopes: []string{"orders:read"},
		Resources: resources, DefaultResource: resources[0],
		// With refresh tokens, clients of the TypeScript SDK v1 would not request more scopes,
		// which the demo is to show.
		NoRefreshTokens: true, AccessLife: demoTokenLife,
		UnknownClients: true, // editors identify themselves by a metadata document on the Internet, and outlive the demo
		Logger:         slog.New(slog.NewTextHandler(d.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	s, err := authtest.Start(o)
	if err != nil { // most likely the port is in use
		o.Address = ""
		s, err = authtest.Start(o)
	}
	return s, err
}

// checkLoopback rejects other addresses than loopback: no token is required, and the demo's login
// is open to everybody.
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

// showAuth calls without a token, with a token, and with one that lacks a scope, and shows how to
// log in.
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
	d.say("   Without a token, the response tells a client where to get one:\n%s", refusal(none))
	d.say("   With a token for orders:read it succeeds, see below. %s needs another scope, which the response names:\n%s", higher, refusal(refused))
	return good, nil
}

// refusal formats the status and the challenge of a response.
func refusal(r *reply) string {
	return strings.TrimRight(indent(r.status+"\nWWW-Authenticate: "+r.challenge), "\n")
}

// sayLogin explains how to log in.
func (d *demonstration) sayLogin() {
	d.say(`   Log in: a client that supports OAuth does it by itself, at %s, where you consent without a password.
   Allow orders:read and list orders, then place one: the client asks again, for orders:write. For other clients,
   here is a token for orders:read, valid for an hour:
TOKEN=%s`, d.issuer.Issuer(), d.token)
}
