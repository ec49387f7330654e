package gatewaytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// TokenServer is the token endpoint of an authorization server. It gives a new token to each request and keeps what it was
// asked, with who asked.
type TokenServer struct {
	*httptest.Server
	Mu     sync.Mutex
	Asked  []url.Values
	Answer func(w http.ResponseWriter, n int) // nil: a token
}

// TokenCanary begins all tokens of a tokenServer.
const TokenCanary = "issued-token-canary-"

// NewTokenServer starts a token endpoint for client credentials.
func NewTokenServer(t *testing.T) *TokenServer {
	t.Helper()
	s := &TokenServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *TokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	form := r.PostForm
	if id, secret, ok := r.BasicAuth(); ok {
		form.Set("basic", id+":"+secret)
	}
	s.Asked = append(s.Asked, form)
	w.Header().Set("Content-Type", "application/json")
	if s.Answer != nil {
		s.Answer(w, len(s.Asked))
		return
	}
	_, _ = fmt.Fprintf(w, `{"access_token":"%s%d","token_type":"Bearer","expires_in":3600}`, TokenCanary, len(s.Asked))
}

// Taken returns the requests since the last call.
func (s *TokenServer) Taken() []url.Values {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	asked := s.Asked
	s.Asked = nil
	return asked
}

// Count returns how many tokens were issued.
func (s *TokenServer) Count() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return len(s.Asked)
}

// Clock is the time for what is sent to services.
type Clock struct{ Ahead atomic.Int64 }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.Ahead.Load())) }

// Advance sets the clock forward.
func (c *Clock) Advance(d time.Duration) { c.Ahead.Add(int64(d)) }
func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// NewKey returns a key on P-256 and its file.
func NewKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, pemOf("PRIVATE KEY", der)
}

// ClaimsOf returns the claims of a JWT that key has signed.
func ClaimsOf(t *testing.T, text string, key crypto.PublicKey) map[string]any {
	t.Helper()
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	payload, err := signed.Verify(key)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}
