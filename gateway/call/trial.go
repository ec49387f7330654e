package call

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

const (
	// maxTrialBody is the most bytes of a body that a trial shows.
	maxTrialBody = 64 << 10
	// maxTrialExchanges is the most requests that a trial shows: redirects and polls of jobs are requests, too.
	maxTrialExchanges = 10
)

// Trial is a call that an operator makes to see what is sent to the service and what the service answers. It shows neither
// credentials nor sensitive fields. It is safe for concurrent use.
type Trial struct {
	Actor string // that the audit log names

	mu        sync.Mutex
	exchanges []*trialExchange
}

// Exchange is one request to a service as it was sent, and its response as far as it was read.
type Exchange struct {
	Method, URL     string
	RequestHeader   []HeaderLine
	RequestBody     string
	Status          int // 0 if there was no response
	ResponseHeader  []HeaderLine
	ResponseBody    string
	RequestBodyCut  bool // RequestBody is only its beginning
	ResponseBodyCut bool // ResponseBody is only its beginning
}

// HeaderLine is one line of a header.
type HeaderLine struct{ Name, Value string }

// trialExchange is an exchange while the call runs.
type trialExchange struct {
	built    *http.Request // before credentials were added
	sent     *http.Request // as last sent: URL, header and GetBody of a copy
	response *http.Response
	body     trialBody
	redactor redact.Redactor
	hidden   *redact.Sensitive
}

// trialBody is the beginning of a response body, in the order in which the call reads it.
type trialBody struct {
	io.ReadCloser
	mu   sync.Mutex
	read []byte // at most maxTrialBody and a byte
}

// Read implements [io.Reader].
func (b *trialBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.read = append(b.read, p[:min(n, maxTrialBody+1-len(b.read))]...)
	b.mu.Unlock()
	return n, err
}

// begin returns the request with an observer, and the exchange that it begins; nil if the trial has enough.
func (t *Trial) begin(req *http.Request) (*http.Request, *trialExchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.exchanges) >= maxTrialExchanges {
		return req, nil
	}
	e := &trialExchange{built: &http.Request{Method: req.Method, URL: req.URL, Header: req.Header.Clone(), GetBody: req.GetBody}}
	t.exchanges = append(t.exchanges, e)
	return req.WithContext(upstream.WithObserver(req.Context(), func(sent *http.Request) {
		t.mu.Lock()
		defer t.mu.Unlock()
		e.sent = &http.Request{Method: sent.Method, URL: sent.URL, Header: sent.Header.Clone(), GetBody: sent.GetBody}
	})), e
}

// end adds the response of an exchange. It replaces the body by one that remembers its beginning.
func (t *Trial) end(e *trialExchange, resp *http.Response, r redact.Redactor, hidden *redact.Sensitive) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.redactor, e.hidden = r, hidden
	if resp == nil {
		return
	}
	e.response = &http.Response{StatusCode: resp.StatusCode, Header: resp.Header.Clone()}
	e.body.ReadCloser = resp.Body
	resp.Body = &e.body
}

// Exchanges returns what was sent and answered.
func (t *Trial) Exchanges() []Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var shown []Exchange
	for _, e := range t.exchanges {
		if e.sent != nil { // else it was stopped before: by the breaker, or for lack of a credential
			shown = append(shown, e.shown())
		}
	}
	return shown
}

// Unsent returns a request that is not sent, as a trial would show it. The values that the configuration adds to it are hidden.
func Unsent(r *http.Request, added *config.APIRequest, secrets *redact.Configured) Exchange {
	built := &http.Request{URL: &url.URL{}, Header: r.Header.Clone()}
	var own []string
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(name); added == nil || err == nil && added.Query[key] == nil {
			own = append(own, pair)
		}
	}
	built.URL.RawQuery = strings.Join(own, "&")
	if added != nil {
		for name := range added.Headers {
			built.Header.Del(name)
		}
	}
	e := &trialExchange{built: built, sent: r, redactor: redact.Redactor{Configured: secrets}}
	return e.shown()
}

// hiddenValue stands for values that operators must not see.
const hiddenValue = "[hidden]"

// ownHeaders are the headers that the gateway adds to requests and that are no credential.
var ownHeaders = []string{"Accept-Encoding", "Content-Length", "Traceparent", "Tracestate", "User-Agent"}

// secretHeaders are those whose values are hidden wherever they come from.
var secretHeaders = []string{"Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie"}

func (e *trialExchange) shown() Exchange {
	s := Exchange{Method: e.sent.Method, URL: e.url()}
	for name, values := range e.sent.Header {
		for _, value := range values {
			added := !slices.Equal(values, e.built.Header[name]) && !slices.Contains(ownHeaders, name)
			s.RequestHeader = append(s.RequestHeader, e.line(name, value, added))
		}
	}
	slices.SortStableFunc(s.RequestHeader, byName)
	s.RequestBody, s.RequestBodyCut = e.requestBody()
	if e.response == nil {
		return s
	}
	s.Status = e.response.StatusCode
	for name, values := range e.response.Header {
		for _, value := range values {
			s.ResponseHeader = append(s.ResponseHeader, e.line(name, value, e.hidden.HasHeader(name)))
		}
	}
	slices.SortStableFunc(s.ResponseHeader, byName)
	s.ResponseBody, s.ResponseBodyCut = e.responseBody()
	return s
}

func byName(a, b HeaderLine) int { return strings.Compare(a.Name, b.Name) }

// line returns a line of a header; hidden is set for a value that must not be seen.
func (e *trialExchange) line(name, value string, hidden bool) HeaderLine {
	if hidden || slices.Contains(secretHeaders, name) {
		return HeaderLine{name, hiddenValue}
	}
	return HeaderLine{name, e.redactor.All(value)}
}

// url returns the URL of the request. Query parameters that are not those of the call were added with the credential or by
// the configuration: their values are hidden.
func (e *trialExchange) url() string {
	built := strings.Split(e.built.URL.RawQuery, "&")
	var query []string
	if e.sent.URL.RawQuery != "" {
		for pair := range strings.SplitSeq(e.sent.URL.RawQuery, "&") {
			if !slices.Contains(built, pair) {
				name, _, _ := strings.Cut(pair, "=")
				pair = name + "=" + hiddenValue
			}
			query = append(query, pair)
		}
	}
	u := url.URL{Scheme: e.sent.URL.Scheme, Host: e.sent.URL.Host, Path: e.sent.URL.Path, RawPath: e.sent.URL.RawPath}
	text := u.String()
	if len(query) > 0 {
		text += "?" + strings.Join(query, "&")
	}
	return e.redactor.All(text)
}

// requestBody returns the beginning of the body of the request.
func (e *trialExchange) requestBody() (text string, cut bool) {
	if e.sent.GetBody == nil {
		return "", false
	}
	body, err := e.sent.GetBody()
	if err != nil {
		return "", false
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxTrialBody+1))
	if err != nil {
		return "", false
	}
	return e.text(data, e.sent.Header.Get("Content-Type"), nil)
}

// responseBody returns the beginning of the body of the response.
func (e *trialExchange) responseBody() (text string, cut bool) {
	e.body.mu.Lock()
	data := slices.Clone(e.body.read)
	e.body.mu.Unlock()
	return e.text(data, e.response.Header.Get("Content-Type"), e.hidden)
}

// isText reports whether data, or all but a character at the end that was cut, is UTF-8.
func isText(data []byte, cut bool) bool {
	for n := 0; cut && n < utf8.UTFMax && !utf8.Valid(data); n++ {
		data = data[:len(data)-1]
	}
	return utf8.Valid(data)
}

// text returns a body as it is shown: without secrets and without sensitive fields.
func (e *trialExchange) text(data []byte, contentType string, hidden *redact.Sensitive) (text string, cut bool) {
	if cut = len(data) > maxTrialBody; cut {
		data = data[:maxTrialBody]
	}
	part := answer.Part{Kind: answer.Text, MediaType: contentType, Data: data}
	if _, err := jsonscan.Scan(data, jsonscan.Options{}); err == nil {
		part.Kind = answer.JSON
	} else if !isText(data, cut) {
		return "[bytes that are no text]", false
	}
	if hidden != nil {
		if part.Kind != answer.JSON && (mediatype.IsJSON(contentType) || cut || hidden.Mentions(string(data))) {
			return "[withheld: it may hold a sensitive field]", false
		}
		hidden.Part(&part)
	}
	e.redactor.Part(&part)
	text = e.redactor.All(string(part.Data))
	if cut { // the end may be the beginning of a secret
		text = text[:max(0, len(text)-e.redactor.Longest())]
	}
	return strings.ToValidUTF8(text, "�"), cut
}
