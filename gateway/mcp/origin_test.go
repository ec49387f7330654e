package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/mcp"
)

func TestOriginsRefusesBadEntries(t *testing.T) {
	t.Parallel()
	_, err := mcp.Origins(mcp.OriginOptions{
		Hosts:   []string{"ok.example", "https://bad.example", "bad.example:port", "*.example", ""},
		Origins: []string{"https://ok.example:443", "ok.example", "https://a.example/path", "*", "https://*.example", "null"},
	})
	want := `"https://bad.example" is not a host
"bad.example:port" is not a host
"*.example" is not a host
"" is not a host
"ok.example" is not an origin; write it as https://app.example.com
"https://a.example/path" is not an origin; write it as https://app.example.com
"*" is not an origin; write it as https://app.example.com
"https://*.example" is not an origin; write it as https://app.example.com
"null" is not an origin; write it as https://app.example.com`
	if err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

// TestOriginsOfPrograms holds that the origins of browsers' extensions and of desktop programs are compared as those of pages are. (pains row 130)
func TestOriginsOfPrograms(t *testing.T) {
	t.Parallel()
	origins, err := mcp.Origins(mcp.OriginOptions{Origins: []string{"chrome-extension://abcdef", "tauri://localhost", "app://Notes"}})
	if err != nil {
		t.Fatal(err)
	}
	h := origins(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for origin, want := range map[string]int{
		"chrome-extension://abcdef": 418, "tauri://localhost": 418, "app://notes": 418, "app://Notes": 418,
		"chrome-extension://abcdeg": 403, "chrome-extension://abcdef.evil": 403, "moz-extension://abcdef": 403, "https://abcdef": 403, "tauri://localhost:1": 403, "app://": 403, "null": 403,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", nil)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if allowed := w.Header().Get("Access-Control-Allow-Origin"); w.Code != want || (allowed == origin) != (want == 418) {
			t.Errorf("Origin %q: %d, allowed %q; want %d", origin, w.Code, allowed, want)
		}
	}
}

// TestOriginsWithoutHosts holds that without configured hosts only loopback is allowed.
func TestOriginsWithoutHosts(t *testing.T) {
	t.Parallel()
	origins, err := mcp.Origins(mcp.OriginOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := origins(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for host, want := range map[string]int{
		"localhost": 418, "LOCALHOST:1": 418, "127.0.0.1": 418, "127.9.9.9:80": 418, "[::1]:8080": 418, "[::ffff:127.0.0.1]": 418,
		"example.com": 403, "localhost.": 403, "localhost.evil": 403, "127.0.0.1.evil": 403, "0.0.0.0": 403, "127.1": 403, "2130706433": 403,
		"[::1": 403, "[::1%lo]": 403, "localhost:": 403, "localhost:80:80": 403, "[]": 403, "[": 403, "": 403, ":80": 403, "user@localhost": 403,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// TestPreflightIsCheap: a preflight shows no token, so what it asks for may not cost more than what it sends.
func TestPreflightIsCheap(t *testing.T) {
	t.Parallel()
	origins, err := mcp.Origins(mcp.OriginOptions{Hosts: []string{"mcp.example"}, Origins: []string{"https://app.example"}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf("mcp-param-%d", i))
	}
	r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
	r.Host = "mcp.example"
	r.Header = http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {strings.Join(names, ",")}}
	w := httptest.NewRecorder()
	origins(http.NotFoundHandler()).ServeHTTP(w, r)
	allowed := w.Header().Get("Access-Control-Allow-Headers")
	if n := strings.Count(allowed, "mcp-param-"); w.Code != http.StatusNoContent || n != 36 {
		t.Errorf("%d, %d headers are repeated: %s", w.Code, n, allowed)
	}
}

// TestPreflightsCostLittle: what a preflight allocates does not grow with what it asks for (H3). BenchmarkPreflight tells the time.
func TestPreflightsCostLittle(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates; make whole is without it")
	}
	h := preflighted(t)
	usual := testing.AllocsPerRun(100, func() { h.ServeHTTP(httptest.NewRecorder(), preflight(preflights["usual"])) })
	for name, asked := range preflights {
		// What is repeated in the answer, 36 headers at most, costs two allocations for each.
		if n := testing.AllocsPerRun(100, func() { h.ServeHTTP(httptest.NewRecorder(), preflight(asked)) }); n > usual+2*36 {
			t.Errorf("%s: %v allocations, %v for the usual one", name, n, usual)
		}
	}
}

// BenchmarkPreflight measures preflights that make the most of the room for headers: each has to take less than a millisecond (H3).
func BenchmarkPreflight(b *testing.B) {
	h := preflighted(b)
	for name, asked := range preflights {
		r := preflight(asked)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusNoContent {
					b.Fatal(w.Code)
				}
			}
		})
	}
}

// preflights are what preflights ask for, by what is special of them.
var preflights = func() map[string]string {
	const room = 32 << 10 // of all headers
	repeated := func(name string) string { return strings.Repeat(name+",", room/(len(name)+1)) }
	var own string
	for i := range 35 {
		own += fmt.Sprintf("mcp-%d,", i)
	}
	return map[string]string{
		"usual":     "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version,mcp-param-region",
		"nothing":   strings.Repeat(",", room),
		"foreign":   repeated("x-foreign"),
		"long":      "mcp-" + strings.Repeat("a", room),
		"own twice": own + repeated("mcp-34")[len(own):],
	}
}()

func preflighted(tb testing.TB) http.Handler {
	tb.Helper()
	origins, err := mcp.Origins(mcp.OriginOptions{Hosts: []string{"mcp.example"}, Origins: []string{"https://app.example"}})
	if err != nil {
		tb.Fatal(err)
	}
	return origins(http.NotFoundHandler())
}

func preflight(asked string) *http.Request {
	r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
	r.Host = "mcp.example"
	r.Header = http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {asked}}
	return r
}
