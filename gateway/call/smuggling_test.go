package call_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

const smugglingDocument = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /after: {get: {operationId: after, responses: {'200': {description: ok}}}}
  /at/{p}:
    get:
      operationId: at
      parameters:
        - {name: p, in: path, required: true, schema: {type: string}}
        - {name: q, in: query, schema: {type: string}}
        - {name: X-Note, in: header, schema: {type: string}}
        - {name: c, in: cookie, schema: {type: string}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {text: {type: string}}}}}}
      responses: {'200': {description: ok}}
  /json: {post: {operationId: json, requestBody: {required: true, content: {application/json: {schema: {type: object, additionalProperties: {type: string}}}}}, responses: {'200': {description: ok}}}}
  /form: {post: {operationId: form, requestBody: {required: true, content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {text: {type: string}}, additionalProperties: {type: string}}}}}, responses: {'200': {description: ok}}}}
  /parts: {post: {operationId: parts, requestBody: {required: true, content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}, text: {type: string}}, additionalProperties: {type: string}}}}}, responses: {'200': {description: ok}}}}
  /bytes: {post: {operationId: bytes, requestBody: {required: true, content: {application/octet-stream: {schema: {type: string, format: binary}}}}, responses: {'200': {description: ok}}}}
  /text: {post: {operationId: text, requestBody: {required: true, content: {text/plain: {schema: {type: string}}}}, responses: {'200': {description: ok}}}}
`

// smuggled are arguments that would be a second request, an end of the first, or another framing of it, if they left their place.
var smuggled = []string{
	"\r\n\r\nGET /purge HTTP/1.1\r\nHost: x\r\nX-Smuggled: 1\r\n\r\n",
	"x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\nGET /purge HTTP/1.1\r\n\r\n",
	"\n\nGET /purge HTTP/1.1\n\n",
	"0\r\n\r\nGET /purge HTTP/1.1\r\n\r\n",
	"5\r\nhello\r\n0\r\nX-Smuggled: 1\r\n\r\n",
	"\r\n--x--\r\n\r\nGET /purge HTTP/1.1\r\n\r\n",
	"a\x00b", "\r", "\n", "a\tb", "a\x0bb\x0cc\x7f",
	"\u560d\u560aGET /purge HTTP/1.1\u010d\u010a\u2028\u0085", // line ends to those who cut characters down to bytes, and to Unicode
	`";filename="x";name="y`, "a; b=c, d", strings.Repeat("\r\n\r\nGET /purge HTTP/1.1\r\n\r\n", 2000),
}

// TestSmuggling is R8, and R2, R5 to R7, on the wire: whatever stands in whatever place, a service that reads by the letter of RFC 9112 finds
// one request with one framing, the value in its place, and the next call right behind; or it gets nothing, if the place can't hold the value.
func TestSmuggling(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	certificate.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	// Calls over TLS are net/http's, and so are the long ones in the clear, which have connections of their own.
	for name, secure := range map[string]*tls.Config{"clear": nil, "TLS": {Certificates: certificate.TLS.Certificates}} {
		t.Run(name, func(t *testing.T) {
			service := newWireService(t, secure)
			g := gatewaytest.Start(t, smugglingDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE, ca_file: "+ca+"}]\n", service.url)
			for _, tt := range smugglingPlaces {
				sent := 0
				for _, value := range smuggled {
					text, _ := json.Marshal(value) //nolint:errchkjson // a string
					bytes64, _ := json.Marshal([]byte(value))
					arguments := strings.NewReplacer("$", string(text), "@", string(bytes64)).Replace(tt.arguments)
					_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", tt.tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tt.tool, arguments))
					_, after := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "after", `"name":"after","arguments":{}`)
					requests := service.taken()
					if len(requests) == 0 || requests[len(requests)-1].line != "GET /after HTTP/1.1" || bytes.Contains(after, []byte(`"isError":true`)) {
						t.Fatalf("%s, %.80q: the next call did not arrive as it is: %v\n%s", tt.place, value, requests, after)
					}
					failed := bytes.Contains(answer, []byte(`"isError":true`))
					if len(requests) == 1 && bytes.Contains(answer, []byte("The arguments are not valid; nothing was sent.")) {
						continue
					}
					r := requests[0]
					if sent++; len(requests) != 2 || failed || r.conn != requests[1].conn && (secure != nil || len(value) < 1000) {
						t.Fatalf("%s, %.80q: %v\n%s", tt.place, value, requests, answer)
					}
					framings := 1
					if tt.tool == "at" && len(r.body) == 0 {
						framings = 0
					}
					if r.framings != framings {
						t.Errorf("%s, %.80q: %d framings: %v", tt.place, value, r.framings, r)
					}
					if got, err := tt.read(r); err != nil || got != value && (got != "file" || !strings.HasSuffix(tt.place, " of a file")) {
						t.Errorf("%s: the service reads %.80q, %v, want %.80q", tt.place, got, err, value)
					}
				}
				if sent != tt.sent {
					t.Errorf("%s: %d of %d values were sent, want %d", tt.place, sent, len(smuggled), tt.sent)
				}
			}
		})
	}
}

// smugglingPlaces are the places for a value, which stands for $ in the arguments, in base64 for @, how a service reads it there, and how many of smuggled go there.
var smugglingPlaces = []struct {
	place, tool, arguments string
	read                   func(wireRequest) (string, error)
	sent                   int
}{
	{"path", "at", `{"p":$}`, wireRequest.path, 2},
	{"query", "at", `{"p":"a","q":$}`, func(r wireRequest) (string, error) { u, err := r.url(); return u.Query().Get("q"), err }, 15},
	{"header", "at", `{"p":"a","X-Note":$}`, func(r wireRequest) (string, error) { return r.header.Get("X-Note"), nil }, 2},
	{"cookie", "at", `{"p":"a","c":$}`, wireRequest.cookie, 15},
	{"JSON of GET", "at", `{"p":"a","text":$}`, wireRequest.json, 15},
	{"JSON", "json", `{"text":$}`, wireRequest.json, 15},
	{"name in JSON", "json", `{$:"text"}`, wireRequest.json, 15},
	{"form", "form", `{"text":$}`, wireRequest.form, 15},
	{"name in a form", "form", `{$:"text"}`, wireRequest.form, 15},
	{"part", "parts", `{"text":$}`, wireRequest.part, 15},
	{"name of a part", "parts", `{$:"text"}`, wireRequest.part, 15},
	{"file", "parts", `{"file":{"text":$}}`, wireRequest.part, 15},
	{"name of a file", "parts", `{"file":{"text":"text","filename":$}}`, wireRequest.part, 15}, // which is cleaned
	{"media type of a file", "parts", `{"file":{"text":"text","media_type":$}}`, wireRequest.part, 0},
	{"bytes", "bytes", `{"body":@}`, func(r wireRequest) (string, error) { return string(r.body), nil }, 15},
	{"text", "text", `{"body":$}`, func(r wireRequest) (string, error) { return string(r.body), nil }, 15},
}

// wireRequest is a request as its bytes say.
type wireRequest struct {
	conn     int // the number of the connection
	line     string
	header   http.Header
	framings int // how often it is told how long the body is
	body     []byte
}

func (r wireRequest) String() string {
	return fmt.Sprintf("%d: %s %v %.300q", r.conn, r.line, r.header, r.body)
}

func (r wireRequest) url() (*url.URL, error) { return url.ParseRequestURI(strings.Fields(r.line)[1]) }

func (r wireRequest) path() (string, error) {
	u, err := r.url()
	return strings.TrimPrefix(u.Path, "/at/"), err
}

func (r wireRequest) cookie() (string, error) {
	c, err := (&http.Request{Header: r.header}).Cookie("c")
	if err != nil {
		return "", err
	}
	return url.PathUnescape(c.Value)
}

// json, form and part return what is not "text" of a body's only member.
func (r wireRequest) json() (string, error) {
	var members map[string]string
	err := json.Unmarshal(r.body, &members)
	return onlyMember(members), err
}

func (r wireRequest) form() (string, error) {
	values, err := url.ParseQuery(string(r.body))
	members := map[string]string{}
	for name, v := range values {
		members[name] = strings.Join(v, "&")
	}
	return onlyMember(members), err
}

func (r wireRequest) part() (string, error) {
	_, parameters, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil {
		return "", err
	}
	parts := multipart.NewReader(bytes.NewReader(r.body), parameters["boundary"])
	p, err := parts.NextRawPart()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(p)
	if err != nil {
		return "", err
	}
	if _, err := parts.NextRawPart(); err != io.EOF || len(p.Header["Content-Disposition"])+len(p.Header["Content-Type"]) != len(p.Header) {
		return "", fmt.Errorf("another part, %w, or header: %v", err, p.Header)
	}
	name, err := url.PathUnescape(p.FormName()) // as browsers escape line ends and quotes in it
	return onlyMember(map[string]string{name: string(text)}), err
}

func onlyMember(members map[string]string) string {
	for name, value := range members {
		if len(members) == 1 && value != "text" {
			return value
		} else if len(members) == 1 {
			return name
		}
	}
	return fmt.Sprintf("%d members", len(members))
}

// wireService reads requests by the letter of RFC 9112, where net/http is lenient, and answers each with {}. What it can't read ends the
// connection, and is a request whose line is what is wrong.
type wireService struct {
	url string

	mu       sync.Mutex
	requests []wireRequest
}

func newWireService(t *testing.T, secure *tls.Config) *wireService {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &wireService{url: "http://" + l.Addr().String()}
	if secure != nil {
		l, s.url = tls.NewListener(l, secure), "https://"+l.Addr().String()
	}
	var served sync.WaitGroup
	var conns []net.Conn
	served.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
			served.Go(func() {
				defer conn.Close()
				for r := bufio.NewReader(conn); ; {
					request, err := readWire(r)
					if err == io.EOF { //nolint:errorlint // before a request
						return
					}
					if err != nil {
						request.line = err.Error()
					}
					request.conn = n
					s.mu.Lock()
					s.requests = append(s.requests, request)
					s.mu.Unlock()
					if _, failed := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"); err != nil || failed != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		for _, c := range conns {
			_ = c.Close()
		}
		timebox.Done(t, served.Wait)
	})
	return s
}

// taken returns the requests since the last call.
func (s *wireService) taken() []wireRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

var (
	wireLine   = regexp.MustCompile(`^(?:GET|POST) /[!-~]* HTTP/1\.1$`)
	wireHeader = regexp.MustCompile(`^([!#$%&'*+.^_|~0-9A-Za-z-]+): ([\t -~\x80-\xff]*)$`)
)

// readWire reads one request; the error is io.EOF if there is none.
func readWire(r *bufio.Reader) (request wireRequest, err error) {
	request.header = http.Header{}
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if err != nil && (!first || line != "") {
			return request, fmt.Errorf("ends within a head: %q", line)
		} else if err != nil {
			return request, io.EOF
		}
		text, ended := strings.CutSuffix(line, "\r\n")
		field := wireHeader.FindStringSubmatch(text)
		switch {
		case ended && first && wireLine.MatchString(text):
			request.line = text
		case ended && !first && text == "":
			return request, request.readBody(r)
		case ended && !first && field != nil:
			request.header.Add(field[1], field[2])
		default:
			return request, fmt.Errorf("not a line of a head: %q", line)
		}
	}
}

func (r *wireRequest) readBody(from *bufio.Reader) error {
	lengths, codings := r.header["Content-Length"], r.header["Transfer-Encoding"]
	r.framings = len(lengths) + len(codings)
	if r.framings > 1 || len(codings) > 0 {
		return fmt.Errorf("framed by %q and %q", lengths, codings) // no body that the gateway makes is without a length
	} else if r.framings == 0 {
		return nil
	}
	length, err := strconv.ParseUint(lengths[0], 10, 31)
	if err != nil {
		return err
	}
	r.body = make([]byte, length)
	_, err = io.ReadFull(from, r.body)
	return err
}
