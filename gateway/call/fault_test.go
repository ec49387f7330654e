package call_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/render"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

var faultRuns = flag.Int("fault-runs", 3000, "answers that TestCutAnswers cuts off")

// faultBodies are whole answers by their media types.
var faultBodies = map[string]string{
	"application/json":         `{"id":7,"items":[{"name":"first","price":1.25},{"name":"second \"quoted\"","price":17}],"total":2,"note":"` + strings.Repeat("long ", 200) + `"}`,
	"text/plain":               strings.Repeat("a line of text\n", 40),
	"application/x-ndjson":     strings.Repeat(`{"id":1,"name":"a line"}`+"\n", 40),
	"text/event-stream":        strings.Repeat("data: {\"id\":1}\n\n", 40),
	"application/octet-stream": strings.Repeat("\x00\x01\xfe\xff", 200),
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func chunked(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(len(text), 100)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, text[:n])
		text = text[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// faultForms are the ways in which an answer of HTTP/1 tells its end.
var faultForms = map[string]func(body string) string{
	"length": func(b string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b) },
	"chunks": func(b string) string { return "Transfer-Encoding: chunked\r\n\r\n" + chunked(b) },
	"close":  func(b string) string { return "Connection: close\r\n\r\n" + b },
	"gzip and length": func(b string) string {
		return fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(gzipped(b)), gzipped(b))
	},
	"gzip in chunks": func(b string) string {
		return "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(gzipped(b))
	},
	"gzip and close": func(b string) string { return "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzipped(b) },
}

// cutService answers with the beginning of an answer, and ends the connection.
type cutService struct {
	url string
	mu  sync.Mutex
	// answer is what is sent, reset whether the connection is reset then.
	answer string
	reset  bool
}

func newCutService(t *testing.T) *cutService {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &cutService{url: "http://" + l.Addr().String()}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		timebox.Done(t, served.Wait)
	})
	return s
}

func (s *cutService) serve(conn net.Conn) {
	defer conn.Close()
	var head []byte
	for b := make([]byte, 4<<10); !bytes.Contains(head, []byte("\r\n\r\n")); {
		n, err := conn.Read(b)
		if err != nil {
			return
		}
		head = append(head, b[:n]...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(conn, s.answer)
	if tcp, ok := conn.(*net.TCPConn); ok && s.reset {
		_ = tcp.SetLinger(0)
	}
}

func (s *cutService) set(answer string, reset bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.reset = answer, reset
}

const faultConfig = "apis: [{name: shop, spec: $SPEC, base_url: $BASE, retries: off, breaker: off%s}]\n"

// TestCutAnswers: an answer that is cut off at whatever byte, in whatever form and of whatever type, is an error (P2; figure 9). One that
// has no length and ends with its connection can't be told from a whole one; unless it is JSON, which has an end, it is passed on with
// words that say so.
func TestCutAnswers(t *testing.T) {
	service := newCutService(t)
	for _, typed := range []bool{true, false} {
		document, extra := gatewaytest.AnswerDocument, ""
		if !typed {
			extra = ", output_schemas: off"
		}
		document = strings.Replace(document, "text/event-stream: {}", "application/json: {schema: {type: object}}", 1)
		g := gatewaytest.Start(t, document, fmt.Sprintf(faultConfig, extra), service.url)
		random := rand.New(rand.NewPCG(9, 9))
		partial, marked := 0, 0
		for form, write := range faultForms {
			for media, body := range faultBodies {
				whole := "HTTP/1.1 200 OK\r\nContent-Type: " + media + "\r\n" + write(body)
				head := strings.Index(whole, "\r\n\r\n") + 4
				for run := range 1 + *faultRuns/(2*len(faultForms)*len(faultBodies)) {
					cut := random.IntN(len(whole))
					if run == 0 {
						cut = len(whole)
					}
					reset := run%4 == 1
					service.set(whole[:cut], reset)
					_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[run%2], "tools/call", "watch", `"name":"watch","arguments":{}`)
					text := string(answer)
					switch failed, said := strings.Contains(text, `"isError":true`), strings.Contains(text, render.Unended); {
					case cut == len(whole) && failed:
						t.Errorf("%s of %s is whole, and refused: %s", form, media, text)
					case cut == len(whole) && said != (form == "close" && media != "application/json"):
						t.Errorf("%s of %s is whole: %s", form, media, text)
					case failed || cut == len(whole):
					case form == "close" && cut >= head && !reset && media != "application/json" && said:
						marked++ // some say by themselves that they end too early
					case form == "close" && cut == head && said: // of any type: an answer without a body
						marked++
					default:
						partial++
						t.Errorf("%s of %s, cut at %d of %d (reset: %v): %s", form, media, cut, len(whole), reset, text)
					}
				}
			}
		}
		if partial > 0 || marked == 0 {
			t.Errorf("%d partial successes, %d that can't be told", partial, marked)
		}
	}
}

// TestCutStreams is TestCutAnswers for HTTP/2, where a stream is reset.
func TestCutStreams(t *testing.T) {
	var plan atomic.Pointer[[3]string] // media type, body, how it is told how long it is
	var cut atomic.Int64
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p, n := plan.Load(), int(cut.Load())
		w.Header().Set("Content-Type", p[0])
		if p[2] == "length" {
			w.Header().Set("Content-Length", fmt.Sprint(len(p[1])))
		}
		if n == 0 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, p[1][:n])
		if n == len(p[1]) {
			return
		}
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	service.EnableHTTP2 = true
	service.StartTLS()
	defer service.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	document := strings.Replace(gatewaytest.AnswerDocument, "text/event-stream: {}", "application/json: {schema: {type: object}}", 1)
	g := gatewaytest.Start(t, document, fmt.Sprintf(faultConfig, ", ca_file: "+ca), service.URL)
	random := rand.New(rand.NewPCG(9, 9))
	for media, body := range faultBodies {
		for run := range *faultRuns / 50 {
			n := random.IntN(len(body))
			if run == 0 {
				n = len(body)
			}
			plan.Store(&[3]string{media, body, []string{"length", ""}[run%2]})
			cut.Store(int64(n))
			_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "watch", `"name":"watch","arguments":{}`)
			if text := string(answer); strings.Contains(text, `"isError":true`) != (n < len(body)) || strings.Contains(text, render.Unended) {
				t.Fatalf("%s, cut at %d of %d: %s", media, n, len(body), text)
			}
		}
	}
}

// TestCutBinary: what can't be told of a picture stands beside it.
func TestCutBinary(t *testing.T) {
	service := newCutService(t)
	g := gatewaytest.Start(t, gatewaytest.AnswerDocument, fmt.Sprintf(faultConfig, ""), service.url)
	service.set("HTTP/1.0 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG", false)
	_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "watch", `"name":"watch","arguments":{}`)
	if text := string(answer); !strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("\x89PNG"))) || !strings.Contains(text, render.Unended) {
		t.Errorf("%s", text)
	}
}
