package authe2e

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"

	"drawbridge/cmd/drawbridge/demo"
)

// tokenService is the demo's service behind a check of tokens: it is called with one of Keycloak for the audience
// "orders-service", and with nothing else. It is safe for concurrent use.
type tokenService struct {
	server   *httptest.Server
	verifier *oidc.IDTokenVerifier

	mu      sync.Mutex
	callers map[string]exchanged // by the session at Keycloak
	refused []string
}

// exchanged is what the service has seen of a caller.
type exchanged struct {
	Subject string `json:"sub"`
	Client  string `json:"azp"`
	Session string `json:"sid"`
	token   string
	calls   int
}

func newTokenService(t *testing.T, address, issuer string) *tokenService {
	t.Helper()
	keys := oidc.NewRemoteKeySet(context.WithoutCancel(t.Context()), issuer+"/protocol/openid-connect/certs")
	s := &tokenService{
		verifier: oidc.NewVerifier(issuer, keys, &oidc.Config{ClientID: "orders-service", SupportedSigningAlgs: []string{oidc.RS256}}),
		callers:  make(map[string]exchanged),
	}
	s.server = httptest.NewUnstartedServer(s.protect(demo.NewService(nil)))
	s.server.Listener.Close()
	var err error
	if s.server.Listener, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

func (s *tokenService) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == demo.DocumentPath {
			next.ServeHTTP(w, r)
			return
		}
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		verified, err := s.verifier.Verify(r.Context(), token)
		var claims exchanged
		if err == nil {
			err = verified.Claims(&claims)
		}
		s.mu.Lock()
		if err != nil {
			s.refused = append(s.refused, err.Error())
		} else {
			claims.token, claims.calls = token, s.callers[claims.Session].calls+1
			s.callers[claims.Session] = claims
		}
		s.mu.Unlock()
		if err != nil {
			http.Error(w, "not a token for this service", http.StatusUnauthorized)
			return
		}
		r.Header.Set("X-Shop-Key", demo.Key)
		next.ServeHTTP(w, r)
	})
}

// seen returns what the service knows of a session.
func (s *tokenService) seen(session string) (exchanged, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.callers[session]
	return e, ok
}

// complaints are the reasons for which requests were refused.
func (s *tokenService) complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}
