package render

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/gateway/redact"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

// Callers get three kinds of response headers: those that every HTTP client needs, those that the document declares,
// and those that the operator names. All of them are in _meta. The text for the model has only those without which it
// can't go on, see header_text.go.

// Limits of the headers that are passed on. A value that exceeds them is omitted, not cut: the beginning of an ETag is
// another ETag.
const (
	maxNamedHeaders = 32 // names in the configuration

	maxHeaders     = 16
	maxHeaderValue = 2 << 10 // bytes of one value in _meta
	maxHeadersSize = 8 << 10 // bytes of all values in _meta
	maxTextValue   = 512     // bytes of one value in the text
	maxTextHeaders = 1 << 10 // bytes of all values in the text
)

// usualHeaders are passed on even if the document does not declare them: the version of a resource, related links, its
// location, the time to retry, and where a list goes on.
var usualHeaders = []string{"Etag", "Link", "Location", "Retry-After", "X-Total-Count", "X-Next-Page"}

// rateLimitHeaders are passed on with errors: services send them with every response, and they matter once a call is refused.
var rateLimitHeaders = upstream.RateLimitHeaders()

// Headers determines which headers of the responses of an API are passed on. It is immutable.
type Headers struct {
	named  []string // named by the operator, canonical
	needed []string // headers that arguments of the API's operations refer to, canonical
}

// neededHeaders returns the response headers without which some operation of an API can't be called as intended: the
// ETag for a conditional update, which prevents overwriting a change (RFC 9110 section 13.1), and those that links of
// the document make arguments of (OAS 3.1.1 section 4.8.20).
func neededHeaders(operations []*openapi.Operation) (needed []string) {
	for condition, header := range map[string]string{"If-Match": "Etag", "If-Unmodified-Since": "Last-Modified"} {
		if slices.ContainsFunc(operations, func(op *openapi.Operation) bool {
			_, _, ok := op.ArgumentFor("header", condition, "")
			return ok
		}) {
			needed = append(needed, header)
		}
	}
	for _, op := range operations {
		for _, link := range op.Links {
			for _, e := range link.Parameters {
				needed = slices.AppendSeq(needed, e.ResponseHeaders())
			}
			if link.Body != nil {
				needed = slices.AppendSeq(needed, link.Body.ResponseHeaders())
			}
		}
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	return needed[:min(len(needed), maxNamedHeaders)]
}

// NewHeaders compiles the headers that the responses of an API's operations pass on besides the usual and the declared
// ones. named are those that the operator names.
func NewHeaders(named []string, operations []*openapi.Operation) *Headers {
	h := &Headers{needed: neededHeaders(operations)}
	for _, name := range named {
		h.named = append(h.named, http.CanonicalHeaderKey(name))
	}
	return h
}

// HeaderNotes are the headers of a response that callers see.
type HeaderNotes struct {
	Meta []byte // a member of _meta, or nil
	Text string // for the model, or ""
}

// Exchange is a response whose headers are read, with the settings that decide how they are shown.
type Exchange struct {
	Response  *http.Response
	Bodiless  bool     // the response has no content, so that its headers are all that it says
	Declared  []string // headers that the document declares for the status
	Location  string   // Location header as the service sent it; "" if only its path is known
	Target    *url.URL // URL of the request if the response has none; nil if it is not known either
	Redactor  redact.Redactor
	Sensitive *redact.Sensitive // nil if no field is hidden
}

// Read returns the headers that callers see. A response without any costs only the lookups. h may be nil, which passes
// on nothing.
func (h *Headers) Read(x Exchange) (notes HeaderNotes) {
	if h == nil {
		return HeaderNotes{}
	}
	r := headReader{Exchange: x}
	var limits []string
	if x.Response.StatusCode >= 400 {
		limits = rateLimitHeaders
	}
	// Headers that other calls depend on come first: a document may declare more than the size limits allow.
	for _, names := range [...][]string{h.needed, usualHeaders, limits, h.named, x.Declared} {
		for _, name := range names {
			declared := slices.Contains(x.Declared, name)
			inText := x.Bodiless && declared || slices.Contains(h.named, name) || x.Response.StatusCode < 300 && slices.Contains(h.needed, name)
			r.read(name, inText, declared)
		}
	}
	if r.meta != nil {
		notes.Meta = append(r.meta, '}')
	}
	if r.text != nil {
		notes.Text = "Headers of the answer: " + string(r.text) + "."
	}
	return notes
}

// headReader collects the headers of one response for its result.
type headReader struct {
	Exchange
	done []string
	size int
	meta []byte // nil while there are none
	text []byte
}

// read adds a header if the response has it and callers may see it. inText adds it to the text, too, also one that a
// model does not need to go on; declared means that the document names it.
func (r *headReader) read(name string, inText, declared bool) {
	values := r.Response.Header[name]
	if len(values) == 0 || len(r.done) == maxHeaders || slices.Contains(r.done, name) || r.withholds(name) {
		return
	}
	value := r.shown(name, strings.Join(values, ", "), declared)
	if value == "" || len(value) > maxHeaderValue || r.size+len(value) > maxHeadersSize {
		return
	}
	r.done, r.size = append(r.done, name), r.size+len(value)
	if r.meta == nil {
		r.meta = append(r.meta, `"drawbridge/headers":{`...)
	} else {
		r.meta = append(r.meta, ',')
	}
	r.meta = append(jsonscan.AppendString(r.meta, spelled(name)), ':')
	r.meta = jsonscan.AppendString(r.meta, value)
	if !inText {
		value = r.continuation(name, value)
	}
	if value == "" || isTraffic(name) || len(value) > maxTextValue || len(r.text)+len(name)+len(value) > maxTextHeaders {
		return
	}
	if r.text != nil {
		r.text = append(r.text, "; "...)
	}
	r.text = append(append(append(r.text, spelled(name)...), ": "...), value...)
}

// withholds reports whether a header is not passed on: it is internal, belongs to the connection, or the operator hides
// it. The target of a redirect is described elsewhere.
func (r *headReader) withholds(name string) bool {
	if name == "Location" && IsRedirect(r.Response.StatusCode) || isInternalHeader(name) {
		return true
	}
	for _, connection := range r.Response.Header["Connection"] {
		if slices.ContainsFunc(strings.Split(connection, ","), func(of string) bool { return strings.EqualFold(strings.TrimSpace(of), name) }) {
			return true
		}
	}
	return r.Sensitive.HasHeader(name)
}

// shown returns a value as callers may see it, or "" if they may not. Invisible characters and secrets are removed. A
// URL of the service is given as a path from its root, because host names of the service are not disclosed.
func (r *headReader) shown(name, value string, declared bool) string {
	target := r.Target
	if r.Response.Request != nil {
		target = r.Response.Request.URL
	}
	switch name {
	case "Location":
		value = locationOf(target, r.Location, r.Response.Header.Get(name), declared)
	case "Content-Location":
		value = locationOf(target, value, value, declared)
	case "Link":
		value = linkPlaces(target, value)
	default:
		if target != nil {
			value = strings.ReplaceAll(value, target.Scheme+"://"+target.Host+"/", "/")
		}
	}
	value = strings.TrimSpace(openapi.Clean(strings.ToValidUTF8(value, "")))
	if r.Response.StatusCode >= 400 {
		value = r.Redactor.Error(value, false)
	} else {
		value = r.Redactor.Text(value)
	}
	if r.Sensitive.Mentions(value) {
		return ""
	}
	return value
}

// locationOf returns the path of a location, with its query if the document declares the header and the location has
// the origin of the request.
func locationOf(target *url.URL, whole, shown string, declared bool) string {
	u, err := url.Parse(shown)
	if err != nil {
		return ""
	}
	path := u.EscapedPath()
	if !declared || whole == "" || target == nil {
		return path
	}
	if w, err := target.Parse(whole); err == nil && w.RawQuery != "" && origin.Same(w, target) {
		return path + "?" + w.RawQuery
	}
	return path
}

// linkPlaces rewrites the URLs in a Link header (RFC 8288 section 3) to paths from the root of the service. A URL of
// another origin is reduced to its path, because services that know themselves by another name write such URLs. Its
// query is kept only if the path is that of the request, as in the link to another page.
func linkPlaces(target *url.URL, value string) string {
	if target == nil {
		return ""
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(value); i++ {
		switch char := value[i]; {
		case char == '"':
			quoted = !quoted
		case char == '\\' && quoted && i+1 < len(value):
			b.WriteByte(char)
			i++
		case char == '<' && !quoted:
			end := strings.IndexByte(value[i:], '>')
			if end < 0 {
				return ""
			}
			b.WriteString("<" + linkPlace(target, value[i+1:i+end]))
			i += end
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// linkPlace rewrites one URL of a Link header.
func linkPlace(target *url.URL, place string) string {
	u, err := target.Parse(place)
	switch {
	case err != nil:
		return ""
	case u.Scheme != "http" && u.Scheme != "https":
		return place
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" && (origin.Same(u, target) || path == target.EscapedPath()) {
		path += "?" + u.RawQuery
	}
	return path
}

// spelled returns a header name as its standard spells it.
func spelled(name string) string {
	if name == "Etag" {
		return "ETag"
	}
	return strings.Replace(name, "Ratelimit", "RateLimit", 1)
}

// isTraffic reports whether a header is about the exchange and not about the content: a request id, or the state of a
// rate limit. Such headers are useless to a model, and differ each time.
func isTraffic(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"request-id", "requestid", "correlation", "trace", "ratelimit", "rate-limit", "x-amzn-", "client-request"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// isInternalHeader reports whether a header is never passed on, even if the document or the operator names it: cookies
// and other credentials, headers between the service and the gateway alone, names of servers and their software, and
// headers that the result conveys in its own way.
func isInternalHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "content-type", "content-encoding", "date", "vary",
		"cache-control", "expires", "pragma", "age", "strict-transport-security", "x-frame-options", "x-content-type-options", "x-xss-protection",
		"content-security-policy", "content-security-policy-report-only", "referrer-policy", "permissions-policy", "feature-policy", "expect-ct", "nel",
		"report-to", "reporting-endpoints", "alt-svc", "clear-site-data", "refresh", "forwarded",
		"server", "via", "server-timing", "x-powered-by", "x-generator", "x-runtime", "x-served-by", "x-server", "x-host", "x-hostname", "x-node", "x-pod",
		"x-cache", "x-cache-hits", "x-timer", "x-varnish", "x-instance-id", "x-upstream", "cf-ray":
		return true
	}
	for _, prefix := range []string{"proxy-", "mcp-", "access-control-", "cross-origin-", "sec-", "x-aspnet", "x-backend", "x-forwarded-", "x-envoy-", "x-amz-cf-", "x-kong-", "x-server-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, word := range []string{"authorization", "authenticat", "auth-", "cookie", "session", "secret", "password", "passwd", "credential", "api-key", "apikey", "jwt", "csrf", "xsrf"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	if strings.Contains(name, "token") { // pagination tokens are not credentials
		has := func(word string) bool { return strings.Contains(name, word) }
		return slices.ContainsFunc([]string{"access", "refresh", "async"}, has) ||
			!slices.ContainsFunc([]string{"next", "page", "continuation", "cursor", "sync", "delta"}, has)
	}
	return false
}

// CheckHeaderNames returns the problems of the header names in the configuration.
func CheckHeaderNames(names []string) (problems []error) {
	if len(names) > maxNamedHeaders {
		problems = append(problems, fmt.Errorf("%d headers are named, %d may be", len(names), maxNamedHeaders))
	}
	for i, name := range names {
		switch {
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || name == "":
			problems = append(problems, fmt.Errorf("%q is not the name of a header", name))
		case isInternalHeader(name):
			problems = append(problems, fmt.Errorf("%s is never passed on: it holds a credential, names a server, or is for the connection alone", name))
		case slices.ContainsFunc(names[:i], func(before string) bool { return strings.EqualFold(before, name) }):
			problems = append(problems, fmt.Errorf("%s is there twice", name))
		}
	}
	return problems
}
