package egress

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"drawbridge/test/timebox"
)

const (
	outgoing = "10.9.0.9" // the address that the proxies connect from
	resource = "http://127.0.0.1:8080/mcp"

	webhookSecret = "secret-of-the-webhooks"
)

// hub is every server behind the proxies, on all addresses of the namespace: the forbidden ones too, where nobody may come.
type hub struct {
	key *ecdsa.PrivateKey // of the issuer of JWTs

	mu        sync.Mutex
	requests  map[string]int // by scheme and host
	conns     int
	forbidden []string // connections to addresses that nobody may call
	direct    []string // requests that did not come from a proxy
	leaked    []string // requests with credentials of the proxy
	mismatch  []string // requests whose host is not the name of the TLS handshake

	webhooks chan struct{} // one value for each webhook
}

// newHub serves on the ports 80 and 443, and writes the authority of its certificate, and a certificate for proxies, into dir.
func newHub(t *testing.T, dir string) *hub {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{key: key, requests: map[string]int{}, webhooks: make(chan struct{}, 1)}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"*.example.net"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: der}, "ca.key": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o644); err != nil { //nolint:gosec // squid reads it as a user of its own
			t.Fatal(err)
		}
	}
	for _, port := range []string{"80", "443"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "0.0.0.0:"+port)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second, ConnContext: h.connected}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if port == "443" {
				s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
				err = s.ServeTLS(l, "", "")
			} else {
				err = s.Serve(l)
			}
			if !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}()
		t.Cleanup(func() { s.Close(); timebox.Wait(t, ended) })
	}
	return h
}

// connected notes connections to addresses that nobody may call.
func (h *hub) connected(ctx context.Context, c net.Conn) context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns++
	if to := c.LocalAddr().String(); !strings.HasPrefix(to, "93.184.216.34:") {
		h.forbidden = append(h.forbidden, to)
	}
	return ctx
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	h.mu.Lock()
	h.requests[scheme+"://"+r.Host]++
	if !strings.HasPrefix(r.RemoteAddr, outgoing+":") {
		h.direct = append(h.direct, r.Host+" from "+r.RemoteAddr)
	}
	if r.Header.Get("Proxy-Authorization") != "" {
		h.leaked = append(h.leaked, r.Host)
	}
	if r.TLS != nil && r.TLS.ServerName != r.Host {
		h.mismatch = append(h.mismatch, r.Host+" under "+r.TLS.ServerName)
	}
	h.mu.Unlock()
	name, _, _ := strings.Cut(r.Host, ".")
	w.Header().Set("Content-Type", "application/json")
	switch name {
	case "docs":
		h.document(w, r)
	case "issuer", "jwt":
		h.issuer(w, r, name)
	case "caller":
		h.webhook(r)
	case "keys", "private":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: h.key.Public(), KeyID: "k", Algorithm: "ES256", Use: "sig"}}})
	case "as":
		fmt.Fprint(w, `{"access_token":"for-the-service","token_type":"Bearer","expires_in":3600}`)
	case "api", "two":
		if r.URL.Path == "/jobs" {
			w.Header().Set("Location", "/jobs/1")
			w.WriteHeader(http.StatusAccepted)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "done", "done": true, "token": r.Header.Get("Authorization") == "Bearer for-the-service"})
	}
}

// webhook checks that a webhook is signed and is about a job that has ended.
func (h *hub) webhook(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	seconds, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Drawbridge-Signature"), "t="), ",")
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	fmt.Fprintf(mac, "%s.%s", seconds, body)
	if want := fmt.Sprintf("t=%s,v1=%x", seconds, mac.Sum(nil)); err != nil || r.Header.Get("Drawbridge-Signature") != want || !strings.Contains(string(body), `"status":"completed"`) {
		h.mu.Lock()
		h.mismatch = append(h.mismatch, "webhook "+string(body))
		h.mu.Unlock()
	}
	h.webhooks <- struct{}{}
}

func (h *hub) document(w http.ResponseWriter, r *http.Request) {
	response := `{description: ok, content: {application/json: {schema: {type: object}}}}`
	if r.URL.Path == "/refs.yaml" {
		response = `{$ref: "https://meta.example.net/part.yaml"}`
	}
	fmt.Fprintf(w, "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n  /x: {get: {operationId: get, responses: {'200': %s}}}\n"+
		"  /jobs: {post: {operationId: start, responses: {'202': {description: accepted}}}}\n", response)
}

func (h *hub) issuer(w http.ResponseWriter, r *http.Request, name string) {
	if strings.HasSuffix(r.URL.Path, "/introspect") {
		fmt.Fprintf(w, `{"active":true,"aud":%q,"scope":"read","client_id":"c","sub":"u","exp":%d}`, resource, time.Now().Add(time.Hour).Unix())
		return
	}
	keys := "https://keys.example.net/jwks"
	if strings.Contains(r.URL.Path, "evil") {
		keys = "https://private.example.net/jwks"
	}
	base := "https://" + name + ".example.net"
	if strings.Contains(r.URL.Path, "evil") {
		base += "/evil"
	}
	fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"introspection_endpoint":"%s/introspect","authorization_endpoint":"%s/a","token_endpoint":"%s/t","response_types_supported":["code"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]}`,
		base, keys, base, base, base)
}

// token returns a JWT of an issuer.
func (h *hub) token(t *testing.T, issuer string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: h.key, KeyID: "k"}}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(map[string]any{"iss": issuer, "aud": resource, "sub": "u", "client_id": "c", "scope": "read", "jti": "1",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// seen is what came to the hub.
type seen struct {
	requests                            map[string]int
	conns                               int
	forbidden, direct, leaked, mismatch []string
}

// take returns what was seen since the last time.
func (h *hub) take() seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := seen{h.requests, h.conns, h.forbidden, h.direct, h.leaked, h.mismatch}
	h.requests, h.conns, h.forbidden, h.direct, h.leaked, h.mismatch = map[string]int{}, 0, nil, nil, nil, nil
	return s
}
