package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// OriginOptions are the hosts and web origins that may reach the endpoint.
type OriginOptions struct {
	// Hosts are the accepted values of the Host header: "mcp.example.com" (any port) or "mcp.example.com:8443" (that
	// port only).
	Hosts []string
	// Origins are the accepted values of the Origin header, compared exactly: "https://app.example.com",
	// "chrome-extension://ID". A request without Origin does not come from a web page and passes.
	Origins []string
	// Loopback also accepts localhost, 127.0.0.0/8 and [::1] with any port, as Host and as Origin; it is for listeners
	// that are bound to loopback. It is implied if Hosts is empty.
	Loopback bool
	// OnRefused is called for each refused request; origin is true if the Origin was refused, false if the Host was. It
	// may be nil.
	OnRefused func(r *http.Request, origin bool)
}

// Origins returns the outermost middleware of an endpoint. It refuses foreign hosts and origins (403) for every method,
// answers CORS preflights, which carry no token, and sets CORS headers on all responses behind it, including a 401. The
// error names all entries that are not hosts or origins.
//
// Comparing Origin with Host, as http.CrossOriginProtection does, is not enough: after DNS rebinding a page sends the
// same name in both (H2).
func Origins(o OriginOptions) (func(http.Handler) http.Handler, error) {
	g := &originChecker{
		hosts: make(map[string]bool), origins: make(map[string]bool),
		loopback:  o.Loopback || len(o.Hosts) == 0,
		onRefused: o.OnRefused,
		exposed:   []string{exposedHeaders},
		vary:      slices.Clip([]string{"Origin"}),
	}
	var problems []error
	for _, h := range o.Hosts {
		host, port, ok := splitHost(h)
		if !ok || strings.ContainsAny(host, "/@*?#% ") {
			problems = append(problems, fmt.Errorf("%q is not a host", h))
			continue
		}
		g.hosts[joinHost(host, port)] = true
	}
	for _, text := range o.Origins {
		normal, ok := normalOrigin(text)
		if !ok {
			problems = append(problems, fmt.Errorf("%q is not an origin; write it as https://app.example.com", text))
			continue
		}
		g.origins[normal] = true
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) })
	}, nil
}

// originChecker checks Host and Origin for Origins. It is immutable.
type originChecker struct {
	hosts     map[string]bool
	origins   map[string]bool
	loopback  bool
	onRefused func(r *http.Request, origin bool) // may be nil

	exposed, vary []string // header values, shared by all responses
}

func (g *originChecker) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !g.hostAllowed(r.Host) {
		g.refuse(w, r, false, "the Host of this request is not served here")
		return
	}
	h := w.Header()
	if vary := h["Vary"]; vary == nil {
		h["Vary"] = g.vary // has no spare capacity, so append copies it
	} else {
		h["Vary"] = append(vary, g.vary...)
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	if len(origins) > 1 || !g.originAllowed(origins[0]) {
		g.refuse(w, r, true, "the Origin of this request is not allowed")
		return
	}
	// The exact origin and never "*", so that pages of other origins can't read the response (H3). Credentials mode is
	// not allowed; tokens travel in Authorization.
	h["Access-Control-Allow-Origin"] = origins
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(w, r)
		return
	}
	h["Access-Control-Expose-Headers"] = g.exposed
	next.ServeHTTP(w, r)
}

// allowedHeaders are the request headers of MCP clients of every revision, those of DPoP-bound tokens (RFC 9449) and of
// W3C Trace Context. Authorization has to be named, since "*" does not cover it (Fetch, CORS-non-wildcard
// request-header name).
const allowedHeaders = "Authorization, X-API-Key, DPoP, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, traceparent, tracestate"

// exposedHeaders are the response headers that a page needs: where to log in, the session, the rate limits, and when to
// retry.
const exposedHeaders = "DPoP-Nonce, MCP-Protocol-Version, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"

// preflight answers a CORS preflight.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	allowed, own := allowedHeaders, 0
	for _, v := range r.Header["Access-Control-Request-Headers"] {
		for name := range strings.SplitSeq(v, ",") {
			// Mcp-Param headers are named by the tools, and newer revisions may add headers that begin with Mcp-.
			if name = strings.Trim(name, " \t"); own < maxPreflightHeaders && isProtocolHeader(name) {
				own++
				if !listContains(allowed, name) {
					allowed += ", " + name
				}
			}
		}
	}
	h.Set("Access-Control-Allow-Headers", allowed)
	h.Set("Access-Control-Max-Age", "7200") // the most that browsers allow
	h.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// maxPreflightHeaders limits the requested headers that are looked up and repeated, since a preflight carries no token.
// Four are in the list, and a tool has fewer than 32 header parameters.
const maxPreflightHeaders = 36

// isProtocolHeader reports whether the name of a header begins with Mcp-.
func isProtocolHeader(name string) bool {
	const prefix = "Mcp-"
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) && isToken(name) && name[len(name)-1] != '-'
}

// listContains reports whether a comma-separated list contains a name.
func listContains(list, name string) bool {
	for listed := range strings.SplitSeq(list, ", ") {
		if strings.EqualFold(listed, name) {
			return true
		}
	}
	return false
}

// isToken reports whether s is a token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// refuse answers 403 with an error without an id (2026-07-28 streamable-http, Security & Endpoint).
func (g *originChecker) refuse(w http.ResponseWriter, r *http.Request, origin bool, message string) {
	if g.onRefused != nil {
		g.onRefused(r, origin)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"` + message + `"}}`)) // an error can't be reported to anyone
}

func (g *originChecker) hostAllowed(value string) bool {
	if g.hosts[value] {
		return true
	}
	host, port, ok := splitHost(value)
	if !ok {
		return false
	}
	return g.hosts[host] || g.hosts[joinHost(host, port)] || g.loopback && origin.Loopback(unbracketed(host))
}

func (g *originChecker) originAllowed(value string) bool {
	// Browsers lowercase an origin, but not the host of a scheme that they don't know.
	if g.origins[value] || g.origins[origin.Lower(value)] {
		return true
	}
	if !g.loopback {
		return false
	}
	scheme, rest, _ := strings.Cut(value, "://")
	host, _, ok := splitHost(rest)
	return ok && (scheme == "http" || scheme == "https") && origin.Loopback(unbracketed(host))
}

// normalOrigin returns an origin as browsers write it: in lower case, without a default port.
func normalOrigin(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Host, "*") {
		return "", false
	}
	o, ok := origin.Of(u)
	return o.String(), ok && !strings.HasSuffix(u.Host, ":")
}

// splitHost splits "host", "host:port", "[v6]" and "[v6]:port". The host is returned in lower case, an IPv6 address
// with its brackets.
func splitHost(s string) (host, port string, ok bool) {
	end := strings.IndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
		if end == 0 {
			return "", "", false
		}
	}
	host = s
	if end >= 0 && end < len(s) {
		if s[end] != ':' {
			return "", "", false
		}
		host, port = s[:end], s[end+1:]
		for _, c := range []byte(port) {
			if c < '0' || c > '9' {
				return "", "", false
			}
		}
		if port == "" || len(port) > 5 {
			return "", "", false
		}
	}
	return origin.Lower(host), port, host != ""
}

func joinHost(host, port string) string {
	if port == "" {
		return host
	}
	return host + ":" + port
}

// unbracketed returns a host, as splitHost returns it, without the brackets of an IPv6 address.
func unbracketed(host string) string {
	if strings.HasPrefix(host, "[") {
		return host[1 : len(host)-1]
	}
	return host
}
