package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is a running authorization server.
type Issuer struct {
	// URL is the issuer identifier.
	URL string

	key    *ecdsa.PrivateKey
	server *http.Server
	done   chan struct{}
}

const keyID = "k1"

// Start listens on a free port of the loopback interface.
func Start() (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	i := &Issuer{URL: "http://" + l.Addr().String(), key: key, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.metadata)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", i.metadata)
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, r *http.Request) {
		reply(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: keyID, Algorithm: string(jose.ES256), Use: "sig"}}})
	})
	i.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(i.done)
		_ = i.server.Serve(l) // ends with Close
	}()
	return i, nil
}

// Close stops listening.
func (i *Issuer) Close() {
	i.server.Close()
	<-i.done
}

// Token signs an access token (RFC 9068) for the audience, good for a day.
func (i *Issuer) Token(audience, scope string) (string, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: keyID}},
		(&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": i.URL, "aud": audience, "sub": "tester", "client_id": "test", "scope": scope, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(23 * time.Hour).Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed.CompactSerialize()
}

func (i *Issuer) metadata(w http.ResponseWriter, r *http.Request) {
	reply(w, map[string]any{
		"issuer": i.URL, "jwks_uri": i.URL + "/jwks",
		"authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
