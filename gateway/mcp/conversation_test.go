package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/mcp"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "accept what the conversations in testdata answer")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConversations replays the files in testdata over a socket: each "request"
// gets a connection of its own and the "response" behind it is what comes back.
// A file that says "server: whole" is replayed to a server with every capability,
// else it is one with tools alone. A request's Content-Length is added; {{session}} stands for the session id that
// came last, {{altered}} for the same with one letter changed, and {{other}} for
// one that was never given out.
func TestConversations(t *testing.T) {
	t.Parallel()
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		methods, options := testMethods(), mcp.Options{ReloadableOptions: mcp.ReloadableOptions{MaxBody: 1 << 20, MaxDepth: 64, KeepAlive: 20 * time.Second}, Revocations: newRevoked()}
		if bytes.Contains(a.Comment, []byte("server: whole")) {
			methods, options = wholeServer(newWhole(mcp.BrokerOptions{}), options)
		}
		addr := startServer(t, methods, options)
		changed, session := false, ""
		for i := 0; i+1 < len(a.Files); i += 2 {
			request, response := a.Files[i], &a.Files[i+1]
			raw := strings.ReplaceAll(string(request.Data), "{{session}}", session)
			raw = strings.ReplaceAll(raw, "{{other}}", strings.Repeat("A", 74))
			if session != "" {
				raw = strings.ReplaceAll(raw, "{{altered}}", session[:20]+flip(session[20:21])+session[21:])
			}
			got, id := exchange(t, addr, raw)
			if id != "" {
				session = id
			}
			if diff := cmp.Diff(string(response.Data), got); diff != "" && !*update {
				t.Errorf("%s: %s (-want +got)\n%s", request.Name, response.Name, diff)
			}
			changed = changed || string(response.Data) != got
			response.Data = []byte(got)
		}
		if *update && changed {
			cases.Write(t, file, a)
		}
	})
}

func flip(letter string) string {
	if letter == "A" {
		return "B"
	}
	return "A"
}

// exchange sends one raw request and returns the answer, without what differs from
// run to run, and the session id in it.
func exchange(t *testing.T, addr, request string) (answer, session string) {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	head, body = strings.TrimRight(head, "\n"), strings.TrimRight(body, "\n")
	if body != "" && !strings.Contains(head, "Transfer-Encoding") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	head += "\nConnection: close\n\n"
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+body); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(head, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	session = resp.Header.Get("Mcp-Session-Id")
	var b strings.Builder
	fmt.Fprintln(&b, resp.Status)
	var lines []string
	for name, values := range resp.Header {
		for _, v := range values {
			if name != "Date" && name != "Connection" && name != "Content-Length" {
				lines = append(lines, name+": "+v)
			}
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	if len(content) > 0 {
		fmt.Fprintf(&b, "\n%s\n", content)
	}
	answer = b.String()
	if session != "" {
		answer = strings.ReplaceAll(answer, session, "{{session}}")
	}
	return references.ReplaceAllString(answer, "reference {{reference}}"), session
}

type principalKey struct{}

// startServer serves the endpoint as a gateway would, with the header X-Principal
// in the place of authentication, and returns its address.
func startServer(t testing.TB, methods mcp.Methods, o mcp.Options) string {
	t.Helper()
	server := httptest.NewServer(newEndpoint(t, methods, o))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func newEndpoint(t testing.TB, methods mcp.Methods, o mcp.Options) http.Handler {
	t.Helper()
	return endpointOf(t, methods, o, func(h *mcp.Handler) http.Handler { return h })
}

// newOld serves the transport of 2024-11-05 in the same way.
func newOld(t testing.TB, methods mcp.Methods, o mcp.Options) http.Handler {
	t.Helper()
	return endpointOf(t, methods, o, func(h *mcp.Handler) http.Handler {
		old := mcp.NewHTTPSSETransport(h, func(*http.Request) string { return "/messages" })
		mux := http.NewServeMux()
		mux.HandleFunc("/sse", old.Stream)
		mux.HandleFunc("/messages", old.Messages)
		return mux
	})
}

func endpointOf(t testing.TB, methods mcp.Methods, o mcp.Options, serve func(*mcp.Handler) http.Handler) http.Handler {
	t.Helper()
	origins, err := mcp.Origins(mcp.OriginOptions{
		Hosts: []string{"mcp.example"}, Origins: []string{"https://app.example"}, Loopback: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Title, o.Version = "test", "Test \"server\"", "1.2.3"
	o.Instructions = "Ask politely."
	o.Capabilities.Tools = true
	if o.SealKeys == nil {
		o.SealKeys = [][]byte{[]byte("the seal key of the tests")}
	}
	if o.Principal == nil {
		o.Principal = func(ctx context.Context) string { p, _ := ctx.Value(principalKey{}).(string); return p }
	}
	return behindOrigins(origins, serve(mcp.NewHandler(methods, o)))
}

func behindOrigins(origins func(http.Handler) http.Handler, h http.Handler) http.Handler {
	return origins(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, r.Header.Get("X-Principal"))))
	}))
}

// testMethods is a server with a few tools, each named after what it does.
func testMethods() mcp.Methods {
	list := mcp.NewPrecompressed([]byte(`"tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}]`))
	return mcp.Methods{
		"tools/list": func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
			if req.Cursor != "" {
				return mcp.InvalidParams("unknown cursor")
			}
			reply.Cache(mcp.Cache{TTL: time.Minute})
			return reply.Precompressed(list)
		},
		"tools/call":     callTool,
		"resources/read": func(_ context.Context, _ *mcp.Request, reply *mcp.Reply) error { return reply.Result() },
		"test/describe": func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
			return reply.Result(mcp.Chunk{Bytes: fmt.Appendf(nil, `"era":%q,"revision":%q,"principal":%q,"client":%d,"log":%q,"trace":%q`,
				req.Family, req.Revision, req.Principal, req.Client, req.Meta.LogLevel.String(), req.Meta.TraceParent)})
		},
	}
}

func callTool(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
	switch req.Name {
	case "echo":
		arguments := []byte(req.Arguments)
		if arguments == nil {
			arguments = []byte("nothing")
		}
		return reply.Result(
			mcp.Chunk{Bytes: []byte(`"content":[{"type":"text","text":"`)},
			mcp.Chunk{Bytes: arguments, Escape: true},
			mcp.Chunk{Bytes: []byte(`"}]`)})
	case "lines":
		return reply.Result(mcp.Chunk{Bytes: []byte("\"content\":[\n],\r\n\"structuredContent\": {}")})
	case "drift":
		return reply.ResultMeta([]byte(`"example/drift":"a"`), mcp.Chunk{Bytes: []byte(`"content":[]`)})
	case "panic":
		panic("a secret " + string(req.Arguments))
	case "fail":
		return errors.New("a secret")
	case "silent":
		return nil
	case "forbidden":
		return &mcp.Error{
			Code: mcp.CodeInvalidRequest, Message: "insufficient scope", HTTPStatus: http.StatusForbidden,
			Header: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope"`}},
		}
	case "capability":
		return &mcp.Error{Code: mcp.CodeMissingCapability, Message: "elicitation is needed", Data: []byte(`{"requiredCapabilities":{"elicitation":{}}}`)}
	}
	return mcp.InvalidParams("unknown tool %q", req.Name)
}

// revoked is a Revocations in memory.
type revoked struct {
	mu    sync.Mutex
	names map[string]time.Time
	err   error
}

func newRevoked() *revoked { return &revoked{names: make(map[string]time.Time)} }

func (r *revoked) Revoke(_ context.Context, _, name string, until time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name] = until
	return r.err
}

func (r *revoked) Revoked(_ context.Context, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.names[name]
	return ok
}
