package auth

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/openapi/jsonscan"
)

// outcome is how a request without a good token is answered.
type outcome uint8

const (
	noToken outcome = iota // 401 without an error code (RFC 6750 section 3.1)
	badToken
	expiredToken
	badRequest
	unavailable // keys can't be fetched: 503, because 401 would log users out (T12)
	outcomes    // their number
)

// answer is a response that is made once and sent often.
type answer struct {
	status    int
	challenge []string // WWW-Authenticate
	body      []byte
}

// challenges are the answers of [Guard.Protect]. Their form is what official
// clients parse: "Bearer" first, one line, every value quoted, and no text that a
// search for scope= or error= could hit.
type challenges struct {
	tail    string // scope and resource_metadata
	url     string
	answers [outcomes]answer
}

func newChallenges(metadata string, scopes []string) challenges {
	c := challenges{url: metadata}
	if len(scopes) > 0 {
		c.tail = `scope="` + strings.Join(scopes, " ") + `", `
	}
	c.tail += `resource_metadata="` + metadata + `"`
	set := func(o outcome, status int, code, description string) {
		a := answer{status: status, body: errorBody(code, description)}
		switch {
		case status == http.StatusServiceUnavailable: // no fault of the token
		case code == "":
			a.challenge = []string{"Bearer " + c.tail}
		default:
			a.challenge = []string{`Bearer error="` + code + `", error_description="` + description + `", ` + c.tail}
		}
		c.answers[o] = a
	}
	set(noToken, http.StatusUnauthorized, "", "an access token is needed")
	set(badToken, http.StatusUnauthorized, "invalid_token", "the access token is not valid here")
	set(expiredToken, http.StatusUnauthorized, "invalid_token", "the access token has expired")
	set(badRequest, http.StatusBadRequest, "invalid_request", "exactly one access token must be sent, in the Authorization header")
	set(unavailable, http.StatusServiceUnavailable, "temporarily_unavailable", "the access token can not be checked at the moment")
	return c
}

// errorBody is the JSON of RFC 6749 section 5.2.
func errorBody(code, description string) []byte {
	b := []byte(`{`)
	if code != "" {
		b = append(b, `"error":`...)
		b = jsonscan.AppendString(b, code)
		b = append(b, ',')
	}
	b = append(b, `"error_description":`...)
	b = jsonscan.AppendString(b, description)
	return append(b, "}\n"...)
}

// write sends the answer for an outcome.
func (c *challenges) write(w http.ResponseWriter, o outcome, retry time.Duration) {
	a := &c.answers[o]
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Cache-Control"] = []string{"no-store"}
	if a.challenge != nil {
		h["Www-Authenticate"] = a.challenge
	}
	if o == unavailable {
		h["Retry-After"] = []string{strconv.Itoa(max(1, int((retry+time.Second-1)/time.Second)))}
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// maxChallengeScopes bounds the scopes of a 403 in bytes: a token may hold more
// than a header should.
const maxChallengeScopes = 4 << 10

// Forbidden returns header and body of the 403 for a caller whose scopes do not
// suffice. The challenge names what the caller has and what it needs, at once
// (Z2): some clients ask for exactly what the challenge says and would lose the rest.
func (g *Guard) Forbidden(p *Principal, scopes []string) (header http.Header, body []byte) {
	if len(scopes) == 0 {
		scopes = g.defaults
	}
	size := 0
	for _, s := range scopes {
		size += len(s) + 1
	}
	var list []string
	if p != nil {
		for _, s := range p.Scopes {
			size += len(s) + 1
			if size > maxChallengeScopes {
				break
			}
			if s != offlineAccess && isScope(s) && !slices.Contains(list, s) && !slices.Contains(scopes, s) {
				list = append(list, s)
			}
		}
	}
	list = append(list, scopes...)
	const description = "the access token lacks a scope that this call needs"
	challenge := `Bearer error="insufficient_scope", error_description="` + description +
		`", scope="` + strings.Join(list, " ") + `", resource_metadata="` + g.challenges.url + `"`
	return http.Header{
		"Content-Type":     {"application/json"},
		"Cache-Control":    {"no-store"},
		"Www-Authenticate": {challenge},
	}, errorBody("insufficient_scope", description)
}
