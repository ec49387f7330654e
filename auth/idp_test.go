package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const resource = "https://mcp.example.com/mcp"

// memory is a network of pipes: unlike sockets, it may be waited for under
// testing/synctest.
type memory struct {
	mu        sync.Mutex
	listeners map[string]*pipeListener
}

func (m *memory) listen(address string) *pipeListener {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners == nil {
		m.listeners = make(map[string]*pipeListener)
	}
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.listeners[address] = l
	return l
}

func (m *memory) dial(ctx context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.listeners[address]
	m.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// idp is an authorization server as the gateway sees it.
type idp struct {
	url      string
	fetches  atomic.Int64 // of the key set
	mu       sync.Mutex
	keys     []signer
	document map[string]any // replaces members of the discovery document
	keySet   []byte         // replaces the key set
	status   int            // replaces 200
	location string         // of the key set, if it moved
	hang     bool           // whatever it is asked for
	oauth    bool           // metadata by RFC 8414 only

	asked    atomic.Int64      // introspections
	drop     atomic.Bool       // the connection of the next one
	answers  map[string]string // of introspection, by token; others are not active
	askCode  int               // replaces 200 there
	question string            // the last one: method, client authentication and form
}

// newIDP serves an authorization server at http://localhost:port until the test ends.
func newIDP(t testing.TB, net *memory, port string, keys ...signer) *idp {
	t.Helper()
	i := &idp{url: "http://localhost:" + port, keys: keys}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) { i.metadata(w, r, false) })
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) { i.metadata(w, r, true) })
	mux.HandleFunc("/introspect", i.introspect)
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		i.fetches.Add(1)
		if i.hangs(r) {
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.location != "" {
			w.Header().Set("Location", i.location)
			w.WriteHeader(http.StatusFound)
			return
		}
		if i.status != 0 {
			w.WriteHeader(i.status)
		}
		w.Write(i.set())
	})
	server := &http.Server{Handler: mux}
	l := net.listen("localhost:" + port)
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(l) }()
	t.Cleanup(func() { server.Close(); timebox.Wait(t, done) })
	return i
}

// hangs waits until the request is given up, if the server hangs.
func (i *idp) hangs(r *http.Request) bool {
	i.mu.Lock()
	hang := i.hang
	i.mu.Unlock()
	if hang {
		<-r.Context().Done()
	}
	return hang
}

func (i *idp) metadata(w http.ResponseWriter, r *http.Request, oauth bool) {
	if i.hangs(r) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.oauth != oauth {
		http.NotFound(w, nil)
		return
	}
	document := map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys"}
	maps.Copy(document, i.document)
	json.NewEncoder(w).Encode(document)
}

func (i *idp) introspect(w http.ResponseWriter, r *http.Request) {
	i.asked.Add(1)
	if i.drop.Swap(false) {
		panic(http.ErrAbortHandler)
	}
	r.ParseForm()
	id, secret, _ := r.BasicAuth()
	i.mu.Lock()
	i.question = fmt.Sprintf("%s %q %q %s", r.Method, id, secret, r.PostForm.Encode())
	answer, ok := i.answers[r.PostForm.Get("token")+r.PostForm.Get("access_token")]
	hang, code := i.hang, i.askCode
	i.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return
	}
	if !ok {
		answer = `{"active":false}`
	}
	if code == http.StatusFound {
		w.Header().Set("Location", "/introspect")
	}
	if code != 0 {
		w.WriteHeader(code)
	}
	io.WriteString(w, answer)
}

func (i *idp) change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func (i *idp) set() []byte {
	if i.keySet != nil {
		return i.keySet
	}
	var set jose.JSONWebKeySet
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k.jwk())
	}
	data, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	return data
}

// client returns a client for the network, closed when the test ends.
func client(t testing.TB, net *memory) *http.Client {
	transport := &http.Transport{DialContext: net.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// signer is a key pair of an authorization server.
type signer struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

func newES256(id string) signer {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return signer{id, jose.ES256, k}
}

func newEdDSA(id string) signer {
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return signer{id, jose.EdDSA, k}
}

func newRSA(id string, a jose.SignatureAlgorithm, bits int) signer {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return signer{id, a, k}
}

func (s signer) jwk() jose.JSONWebKey {
	return jose.JSONWebKey{Key: s.private.Public(), KeyID: s.id, Algorithm: string(s.algorithm), Use: "sig"}
}

// sign makes a token of a header and a payload, both as they are.
func (s signer) sign(header, payload string) string {
	var opaque jose.OpaqueSigner = rawSigner{s}
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	sig, err := opaque.SignPayload([]byte(text), s.algorithm)
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// rawSigner signs bytes as RFC 7518 section 3 says, so that tests can put
// anything into a header.
type rawSigner struct{ s signer }

func (r rawSigner) Public() *jose.JSONWebKey        { k := r.s.jwk(); return &k }
func (r rawSigner) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{r.s.algorithm} }
func (r rawSigner) SignPayload(payload []byte, a jose.SignatureAlgorithm) ([]byte, error) {
	var hash crypto.Hash
	switch a {
	case jose.RS256, jose.PS256, jose.ES256:
		hash = crypto.SHA256
	case jose.ES384:
		hash = crypto.SHA384
	default: // EdDSA hashes by itself
	}
	digest := payload
	if hash != 0 {
		h := hash.New()
		h.Write(payload)
		digest = h.Sum(nil)
	}
	switch key := r.s.private.(type) {
	case *ecdsa.PrivateKey:
		x, y, err := ecdsa.Sign(rand.Reader, key, digest)
		if err != nil {
			return nil, err
		}
		size := (key.Params().BitSize + 7) / 8
		out := make([]byte, 2*size)
		x.FillBytes(out[:size])
		y.FillBytes(out[size:])
		return out, nil
	case *rsa.PrivateKey:
		if a == jose.PS256 {
			return rsa.SignPSS(rand.Reader, key, hash, digest, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		}
		return rsa.SignPKCS1v15(rand.Reader, key, hash, digest)
	case ed25519.PrivateKey:
		return ed25519.Sign(key, digest), nil
	}
	return nil, errors.New("unknown key type")
}

// token is a good token of an issuer, changed by change (a nil value removes).
func (s signer) token(issuer string, now time.Time, change map[string]any) string {
	header := map[string]any{"alg": s.algorithm, "typ": "at+jwt", "kid": s.id}
	payload := map[string]any{
		"iss": issuer, "sub": "alice", "client_id": "app", "aud": resource, "scope": "mcp:tools orders:read",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for name, value := range change {
		target := payload
		if len(name) > 7 && name[:7] == "header." {
			name, target = name[7:], header
		}
		if value == nil {
			delete(target, name)
		} else {
			target[name] = value
		}
	}
	h, _ := json.Marshal(header)
	p, _ := json.Marshal(payload)
	return s.sign(string(h), string(p))
}
