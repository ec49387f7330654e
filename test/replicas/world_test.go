package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"drawbridge/auth/authtest"
	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	sealKey = "canary-of-the-keys-0123456789abcdef"
	// resource is what tokens are for, and the proofs that come with them, at whichever replica.
	resource = "http://localhost:8080/mcp"
	subject  = "canary-of-the-caller"
)

// world is replicas, a service, those who know callers, and a Redis.
type world struct {
	t        *testing.T
	redis    *process.Redis
	service  *service
	replicas []*httptest.Server
	gateways []*gateway.Gateway
	key      *ecdsa.PrivateKey
	token    string
	spec     string // the file that all replicas read
}

// service answers at once, slowly, or with a job.
type service struct {
	*httptest.Server

	mu       sync.Mutex
	looks    int
	state    string
	callback string
	slow     int
	orders   int
}

func newService(t *testing.T) *service {
	s := &service{state: "running"}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/slow":
			s.mu.Lock()
			s.slow++
			s.mu.Unlock()
			<-r.Context().Done()
		case "/jobs":
			var body struct{ Callback string }
			_ = json.NewDecoder(r.Body).Decode(&body)
			s.mu.Lock()
			s.callback = body.Callback
			s.mu.Unlock()
			w.Header().Set("Location", "/jobs/1")
			w.WriteHeader(http.StatusAccepted)
		case "/jobs/1":
			s.mu.Lock()
			s.looks++
			fmt.Fprintf(w, `{"status":%q,"result":{"answer":42}}`, s.state)
			s.mu.Unlock()
		default:
			s.mu.Lock()
			s.orders++
			s.mu.Unlock()
			_, _ = io.WriteString(w, `{"done":true}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) read(f func(*service) int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s)
}

const document = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders: {post: {operationId: order, responses: {"200": {description: ok}}}}
  /things: {get: {operationId: look, responses: {"200": {description: ok}}}}
  /scarce: {get: {operationId: scarce, responses: {"200": {description: ok}}}}
  /slow: {get: {operationId: slow, responses: {"200": {description: ok}}}}
  /jobs:
    post:
      operationId: begin
      requestBody: {content: {application/json: {schema: {type: object, properties: {callback: {type: string}}}}}}
      responses: {"202": {description: begun}}
`

const settings = `server: {public_url: "http://localhost:8080", seal_keys: [%q], keep_alive: 1s}
auth:
  issuers: [{issuer: %q, dpop: require}]
  allow_unscoped: true
state: {redis: {url: %q, timeout: 1s%s}, closed: [%s]}
apis: [{spec: %q, name: shop, base_url: %q}]
limits: {principal_rate: off}
rules:
  - {match: {operation: scarce}, set: {rate: {rate: 1/h, burst: 7}}}
  - {match: {operation: order}, set: {confirm: true}}
  - {match: {operation: begin}, set: {job: {interval: 1s, callback: {argument: callback}}}}
`

// setup is what a test wants of its world.
type setup struct {
	closed string   // of the configuration
	redis  []string // arguments of redis-server
	scheme string   // of its URL, and what stands there before the host; "": redis://
	more   string   // of state.redis
}

// newWorld starts three replicas.
func newWorld(t *testing.T, want setup) *world {
	t.Helper()
	w := &world{t: t, service: newService(t)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		timebox.Done(t, wg.Wait)
		http.DefaultClient.CloseIdleConnections()
	})
	var err error
	w.redis, err = process.StartRedis(ctx, t.TempDir(), want.redis...)
	switch {
	case errors.Is(err, process.ErrNoRedis) && os.Getenv("CI") != "true":
		t.Skip("redis-server is not installed: apt-get install redis-server")
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.redis.Kill() })
	issuer, err := authtest.Start(authtest.Options{DefaultResource: resource, Clients: []authtest.Client{{ID: subject, Secret: "secret-of-the-client"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close() })
	dir := t.TempDir()
	file := filepath.Join(dir, "drawbridge.yaml")
	w.spec = filepath.Join(dir, "api.yaml")
	text := fmt.Sprintf(settings, sealKey, issuer.Issuer(), cmp.Or(want.scheme, "redis://")+w.redis.Address, want.more, want.closed, w.spec, w.service.URL)
	for name, content := range map[string]string{w.spec: document, file: text} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		c, problems := config.Load(file, func(string) string { return "" })
		if c == nil {
			t.Fatal(problems)
		}
		g, err := gateway.New(gateway.Options{Config: c, Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { _ = g.Run(ctx) })
		server := httptest.NewServer(g.Handler())
		t.Cleanup(func() {
			_ = g.EndStreams(context.Background())
			server.CloseClientConnections()
			server.Close()
		})
		timebox.Wait(t, g.Serving())
		w.gateways, w.replicas = append(w.gateways, g), append(w.replicas, server)
	}
	w.eventually("all replicas know of each other", func() bool {
		for _, g := range w.gateways {
			if s := g.Status().Shared; s == nil || !s.Up || s.Replicas != 3 {
				return false
			}
		}
		return true
	})
	if w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	w.token = w.ask(issuer.Issuer() + "/token")
	return w
}

// ask gets a token that is bound to the world's key.
func (w *world) ask(endpoint string) string {
	w.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {subject}, "client_secret": {"secret-of-the-client"}}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("DPoP", w.proof(http.MethodPost, endpoint, ""))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var a struct {
		Token string `json:"access_token"`
	}
	text, _ := io.ReadAll(resp.Body)
	if json.Unmarshal(text, &a) != nil || a.Token == "" {
		w.t.Fatalf("no token: %s", text)
	}
	return a.Token
}

// proof makes one of possession.
func (w *world) proof(method, target, token string) string {
	w.t.Helper()
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": target, "iat": time.Now().Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	payload, _ := json.Marshal(claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: w.key}, (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		w.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	text, _ := signed.CompactSerialize()
	return text
}

// answer is what a replica has said, line by line if it is a stream.
type answer struct {
	status  int
	session string
	lines   chan string // with data; closed at the end
	leave   context.CancelFunc
}

// send sends a request to a replica; header has names and values in turn.
func (w *world) send(replica int, method, body string, header ...string) *answer {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	r, err := http.NewRequestWithContext(ctx, method, w.replicas[replica].URL+"/mcp", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "DPoP "+w.token)
	r.Header.Set("DPoP", w.proof(method, resource, w.token))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		cancel()
		w.t.Fatalf("replica %d: %v", replica, err)
	}
	a := &answer{status: resp.StatusCode, session: resp.Header.Get("Mcp-Session-Id"), lines: make(chan string, 100), leave: cancel}
	go func() {
		defer close(a.lines)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if text := strings.TrimPrefix(lines.Text(), "data: "); strings.HasPrefix(text, "{") {
				a.lines <- text
			}
		}
	}()
	w.t.Cleanup(cancel)
	return a
}

// modern sends a request of 2026-07-28; members are those of params, without _meta.
func (w *world) modern(replica int, method, name, members, can string, header ...string) *answer {
	w.t.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{` + can + `}}`
	if members != "" {
		members += ","
	}
	header = append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, header...)
	if name != "" {
		header = append(header, "Mcp-Name", name)
	}
	return w.send(replica, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+members+meta+`}}`, header...)
}

// next returns the next line that holds a text.
func (w *world) next(a *answer, holds string) string {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	var seen []string
	for {
		select {
		case line, ok := <-a.lines:
			if !ok {
				w.t.Fatalf("status %d, and nothing with %s in %q", a.status, holds, seen)
			}
			if strings.Contains(line, holds) {
				return line
			}
			seen = append(seen, line)
		case <-deadline:
			w.t.Fatalf("status %d, and for 20 s nothing with %s, but %q", a.status, holds, seen)
		}
	}
}

// failures is what a replica could not ask of Redis, or tell it.
func (w *world) failures(replica int) string {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.gateways[replica].Admin().ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://127.0.0.1/metrics", nil))
	var failed []string
	for line := range strings.Lines(rec.Body.String()) {
		if strings.HasPrefix(line, "drawbridge_shared_state_errors_total{") && !strings.HasSuffix(line, " 0\n") {
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	return strings.Join(failed, ", ")
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// store is a client of Redis, for looking at what stands there and for writing what should not.
func (w *world) store() *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: w.redis.Address, Protocol: 2, DisableIdentity: true})
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}
