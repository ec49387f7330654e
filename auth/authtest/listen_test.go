package authtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakeListener claims to listen somewhere.
type fakeListener struct {
	address net.Addr
	closed  bool
}

func (l *fakeListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (l *fakeListener) Close() error              { l.closed = true; return nil }
func (l *fakeListener) Addr() net.Addr            { return l.address }

// The server can't be had on another address, whoever tries and however.
func TestLoopbackOnly(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "localhost.example.com:0", "127.0.0.1.example.com:0"} {
		want := `authtest: address "` + address + `" is not loopback: this server is for development on one machine`
		if s, err := Start(Options{Address: address}); err == nil || err.Error() != want {
			t.Errorf("Start at %q: %v, want %s", address, err, want)
			if s != nil {
				s.Close()
			}
		}
	}
	s, err := NewServer(testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []net.Addr{&net.TCPAddr{IP: net.IPv4zero, Port: 80}, &net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}, &net.UnixAddr{Name: "x", Net: "unix"}} {
		l := &fakeListener{address: address}
		if err := s.Serve(l); err == nil || !strings.Contains(err.Error(), "is not loopback") || !l.closed {
			t.Errorf("Serve at %s: %v, closed: %t", address, err, l.closed)
		}
	}
	// Somebody mounts the handler elsewhere.
	r := httptest.NewRequest(http.MethodGet, "/jwks", nil)
	r.Host = s.issuer.Host
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "the request came in by an address that is not loopback") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := NewServer(Options{
		Issuer: "https://idp.example.com", Algorithm: "HS256", Scopes: []Scope{{Name: "a b"}}, DefaultScopes: []string{"c"},
		Resources: []string{"/mcp"}, DefaultResource: "https://a/#b", AccessLife: -1,
		Clients: []Client{{}, {ID: "a"}, {ID: "a"}, {ID: "b", Grants: []string{"password"}}, {ID: "c", Grants: []string{grantClient}}, {ID: "d", RedirectURIs: []string{"http://a.example/"}}},
	})
	want := `authtest: issuer "https://idp.example.com" is not on a loopback host: this server is for development on one machine
authtest: algorithm "HS256" is neither ES256 nor RS256
authtest: resource "/mcp" is not an absolute URI without fragment
authtest: resource "https://a/#b" is not an absolute URI without fragment
authtest: "a b" is not a scope
authtest: default scope "c" is not among the scopes
authtest: a token can't live for -1ns
authtest: client "": no identifier
authtest: client "a" is listed twice
authtest: client "b": unknown grant type "password"
authtest: client "c": grant type "client_credentials" needs a secret
authtest: client "d": redirect URI "http://a.example/" is http, but not on loopback`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	for _, issuer := range []string{"", "http://localhost:1/", "http://localhost:1/a/../b", "http://localhost:1/a?b", "http://localhost:1/{a}", "http://u@localhost:1", "ftp://localhost", "localhost:1"} {
		if _, err := NewServer(Options{Issuer: issuer}); err == nil {
			t.Errorf("issuer %q was accepted", issuer)
		}
	}
}

// Start and Close leave nothing behind, which TestMain checks, and the issuer is where it says.
func TestStart(t *testing.T) {
	for _, address := range []string{"", "localhost:0", "127.0.0.1:0"} {
		s, err := Start(Options{Address: address})
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get(s.Issuer() + "/.well-known/oauth-authorization-server")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"issuer":"`+s.Issuer()+`"`) {
			t.Errorf("%q: %d %s %v", address, resp.StatusCode, text, err)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error("a client in a browser can't read the metadata")
		}
		if _, err := Start(Options{Address: strings.TrimPrefix(s.Issuer(), "http://")}); err == nil {
			t.Error("an address was taken twice")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
