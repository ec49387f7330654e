package call_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway"
	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestCalls runs the cases of testdata/calls: a document, a configuration, what the service answers, and a call;
// what reaches the service and what the client gets are compared.
//
//	api.yaml       the document
//	config.yaml    the configuration; $SPEC and $BASE stand for the document's path and the service's address
//	answer         the service's answer as raw HTTP; its line ends are made CRLF up to the empty line, and $BASE is the service's address. None: the
//	               connection is closed without an answer. Its length is added. Several: the answers to one request after the other
//	call           {"revision": …, "name": …, "arguments": …}, or for another method than tools/call {"revision": …,
//	               "method": …, "uri": …}
//	call 2         the next call; its result is in "result 2"
//	request        expected: the request line, headers and body that the service saw; nothing if it saw none
//	result         expected: the HTTP status if it is not 200, and the JSON-RPC answer's result or error, indented
func TestCalls(t *testing.T) {
	cases.Run(t, "testdata/calls/*.txtar", runCallCase)
}

func runCallCase(t *testing.T, file string, archive *txtar.Archive) {
	section := func(name string) []byte {
		for _, f := range archive.Files {
			if f.Name == name {
				return f.Data
			}
		}
		return nil
	}
	var answers [][]byte
	for _, f := range archive.Files {
		if f.Name == "answer" {
			answers = append(answers, f.Data)
		}
	}
	service := newRawService(t, answers...)
	g := gatewaytest.Start(t, string(section("api.yaml")), string(section("config.yaml")), service.url)

	type part struct{ name, got string }
	var parts []part
	for _, n := range []string{"", " 2"} {
		if text := section("call" + n); text != nil {
			parts = append(parts, part{"result" + n, hide(callCase(t, g, text), service.url)})
		}
	}
	for _, part := range append(parts, part{"request", service.seen()}) {
		if *update.Expected {
			gatewaytest.Set(archive, part.name, part.got)
			continue
		}
		if diff := cmp.Diff(string(section(part.name)), part.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.name, diff)
		}
	}
	if *update.Expected {
		cases.Write(t, file, archive)
	}
}

// callCase makes the call of a case and returns the result as it stands there.
func callCase(t *testing.T, g *gateway.Gateway, call []byte) string {
	var in struct {
		Revision, Method, Name, URI string
		Arguments                   json.RawMessage
	}
	if err := json.Unmarshal(call, &in); err != nil {
		t.Fatalf("call: %v", err)
	}
	method, params := "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, in.Name, gatewaytest.OrEmpty(in.Arguments))
	if in.Method != "" {
		method, params = in.Method, ""
	}
	if in.URI != "" {
		params = fmt.Sprintf(`"uri":%q`, in.URI)
	}
	status, answer := gatewaytest.Ask(t, g.Handler(), in.Revision, method, in.Name+in.URI, params)
	result := answer
	var parts struct{ Result, Error json.RawMessage }
	if json.Unmarshal(answer, &parts) == nil && parts.Result != nil {
		result = parts.Result
	} else if parts.Error != nil {
		result = parts.Error
	}
	var b bytes.Buffer
	if status != 200 {
		fmt.Fprintf(&b, "%d\n", status)
	}
	if json.Indent(&b, result, "", "  ") != nil {
		b.Write(result)
	}
	b.WriteByte('\n')
	return b.String()
}

// hide puts names in the place of what differs from run to run: an address, and the names of requests.
func hide(text, url string) string {
	return hideNames(strings.ReplaceAll(text, strings.TrimPrefix(url, "http://"), "$BASE"))
}

func hideNames(text string) string {
	return linkHandles.ReplaceAllString(requestNames.ReplaceAllString(text, "${1}$$REQUEST"), "${1}$$LINK")
}

var (
	requestNames = regexp.MustCompile(`("drawbridge/request": ?")[A-Z2-7]{16}`)
	linkHandles  = regexp.MustCompile(`(drawbridge-link:)[A-Za-z0-9_-]+`)
)

// rawService answers every connection's first request with the bytes that are next, whatever they are, and the last ones again and again.
type rawService struct {
	url string

	mu       sync.Mutex
	request  string
	requests int
}

func newRawService(t *testing.T, answers ...[]byte) *rawService {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawService{url: "http://" + l.Addr().String()}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if n := s.record(r); len(answers) > 0 {
					answer := bytes.ReplaceAll(answers[min(n, len(answers)-1)], []byte("$BASE"), []byte(s.url))
					head, body, _ := bytes.Cut(answer, []byte("\n\n"))
					body = bytes.TrimSuffix(body, []byte("\n"))
					_, _ = io.WriteString(c, strings.ReplaceAll(closing(withLength(string(head), r.Method, len(body))), "\n", "\r\n")+"\r\n\r\n"+string(body))
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); timebox.Done(t, conns.Wait) })
	return s
}

// closing adds to the head of an answer that the connection ends with it, which the service does: a client must not send another
// request on it.
func closing(head string) string {
	if !strings.HasPrefix(head, "HTTP/1.1 ") || strings.Contains(strings.ToLower(head), "\nconnection:") {
		return head
	}
	return head + "\nConnection: close"
}

// withLength adds to the head of an answer how long it is, as servers do, unless it says how it ends by itself.
func withLength(head, method string, length int) string {
	lower := strings.ToLower(head)
	for _, name := range []string{"\ncontent-length:", "\ntransfer-encoding:", "\nconnection: close"} {
		if strings.Contains(lower, name) {
			return head
		}
	}
	if method == http.MethodHead || strings.Contains(head, " 204 ") || strings.Contains(head, " 304 ") {
		return head
	}
	return fmt.Sprintf("%s\nContent-Length: %d", head, length)
}

// record notes a request and returns how many came before.
func (s *rawService) record(r *http.Request) (n int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.RequestURI)
	var header bytes.Buffer
	_ = r.Header.WriteSubset(&header, map[string]bool{"User-Agent": true, "Accept-Encoding": true})
	b.WriteString(strings.ReplaceAll(header.String(), "\r", ""))
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		fmt.Fprintf(&b, "\n%s\n", body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.request += b.String()
	s.requests++
	return s.requests - 1
}

func (s *rawService) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.request
}
