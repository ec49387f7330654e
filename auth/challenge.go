package auth

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/openapi/jsonscan"
)

// outcome is the kind of response to a request without a valid token.
type outcome uint8

const (
	noToken outcome = iota // 401 without an error code (RFC 6750 section 3.1)
	badToken
	expiredToken
	badRequest
	badProofs   // more than one DPoP header
	badProof    // RFC 9449 section 7.1
	nonceNeeded // RFC 9449 section 9
	tooMany     // 429: the caller's address sends too many invalid tokens
	manyProofs  // 429: the caller has used more proofs than can be remembered per principal
	unavailable // 503, because 401 would log users out while keys can't be fetched (T12)
	outcomes    // the number of outcomes
)

// String returns the reason for the outcomes that are decided before a token is looked at.
func (o outcome) String() string {
	switch o {
	case noToken:
		return "no token"
	case badRequest:
		return "not exactly one token"
	case badProofs, badProof:
		return "not exactly one proof"
	case badToken, expiredToken, nonceNeeded, tooMany, manyProofs, unavailable, outcomes:
	}
	return "other"
}

// response is a response that is computed once.
type response struct {
	status    int
	challenge []string // WWW-Authenticate
	body      []byte
}

// challenges are the responses of [Guard.Protect]. Their form is what the official clients parse:
// "Bearer" first where it is accepted, one header line per scheme, every value quoted, and no text
// that a search for scope= or error= could match.
type challenges struct {
	tail string // scope and resource_metadata
	url  string
	algs string // the parameter of DPoP challenges; empty if DPoP is off
	// responses to a caller that used Bearer or nothing, and to one that used DPoP
	bearer, dpop [outcomes]response
}

// accepted names the credentials that callers may have.
func (g *Guard) accepted() string {
	switch {
	case g.apiKeys == nil:
		return "access token"
	case len(g.issuers) == 0:
		return "API key"
	}
	return "access token or API key"
}

// newChallenges returns the responses for a guard. accepted names the credentials, and metadata is the URL of the metadata; empty
// if there is none.
func newChallenges(accepted, metadata string, scopes []string, p *proofVerifier) challenges {
	c := challenges{url: metadata}
	var parameters []string
	if len(scopes) > 0 {
		parameters = append(parameters, `scope="`+strings.Join(scopes, " ")+`"`)
	}
	if metadata != "" {
		parameters = append(parameters, `resource_metadata="`+metadata+`"`)
	}
	if len(parameters) == 0 { // a challenge has at least one (RFC 6750 section 3)
		parameters = append(parameters, `realm="drawbridge"`)
	}
	c.tail = strings.Join(parameters, ", ")
	header := "the Authorization header"
	switch accepted {
	case "API key":
		header = "the header Authorization (Bearer) or " + APIKeyHeader
	case "access token or API key":
		header = "the header Authorization (Bearer), or a key in " + APIKeyHeader
	}
	bearer := true
	if p != nil {
		c.algs = `algs="` + p.algs + `", `
		bearer = !p.required
	}
	set := func(o outcome, status int, code, description string) {
		failure := ""
		if code != "" {
			failure = `error="` + code + `", error_description="` + description + `", `
		}
		for _, side := range []struct {
			answers *[outcomes]response
			dpop    bool
		}{{&c.bearer, false}, {&c.dpop, true}} {
			a := response{status: status, body: errorBody(code, description)}
			if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests { // otherwise the token is not at fault
				if bearer {
					a.challenge = append(a.challenge, "Bearer "+onlyIf(!side.dpop, failure)+c.tail)
				}
				if p != nil {
					a.challenge = append(a.challenge, "DPoP "+onlyIf(side.dpop || !bearer, failure)+c.algs+c.tail)
				}
			}
			side.answers[o] = a
		}
	}
	set(noToken, http.StatusUnauthorized, "", "an "+accepted+" is needed"+onlyIf(accepted != "access token", ", in "+header))
	set(badToken, http.StatusUnauthorized, "invalid_token", "the "+accepted+" is not valid here")
	set(expiredToken, http.StatusUnauthorized, "invalid_token", "the "+accepted+" has expired")
	set(badRequest, http.StatusBadRequest, "invalid_request", "exactly one "+accepted+" must be sent, in "+header)
	set(badProofs, http.StatusBadRequest, "invalid_request", "exactly one DPoP header must be sent")
	set(badProof, http.StatusUnauthorized, "invalid_dpop_proof", "the DPoP proof is not valid for this request")
	set(nonceNeeded, http.StatusUnauthorized, "use_dpop_nonce", "the DPoP proof must carry the nonce of this answer")
	set(tooMany, http.StatusTooManyRequests, "temporarily_unavailable", "too many access tokens that are not valid")
	set(manyProofs, http.StatusTooManyRequests, "temporarily_unavailable", "too many DPoP proofs of this caller")
	set(unavailable, http.StatusServiceUnavailable, "temporarily_unavailable", "the access token can not be checked at the moment")
	return c
}

// onlyIf returns s if the condition holds.
func onlyIf(condition bool, s string) string {
	if condition {
		return s
	}
	return ""
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

// write sends the response for an outcome to a caller that used DPoP or not.
func (c *challenges) write(w http.ResponseWriter, o outcome, dpop bool, retry time.Duration) {
	a := &c.bearer[o]
	if dpop {
		a = &c.dpop[o]
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Cache-Control"] = []string{"no-store"}
	if a.challenge != nil {
		h["Www-Authenticate"] = a.challenge
	}
	if o == unavailable || o == tooMany || o == manyProofs {
		h["Retry-After"] = []string{strconv.Itoa(max(1, int((retry+time.Second-1)/time.Second)))}
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// InvalidToken returns the header of the 401 for a caller whose token was accepted here but
// rejected by its authorization server. It equals the response of [Guard.Protect] to an invalid
// token.
func (g *Guard) InvalidToken(p *Principal) http.Header {
	a := &g.challenges.bearer[badToken]
	if p != nil && p.bound {
		a = &g.challenges.dpop[badToken]
	}
	return http.Header{
		"Content-Type":     {"application/json"},
		"Cache-Control":    {"no-store"},
		"Www-Authenticate": slices.Clone(a.challenge),
	}
}

// maxChallengeScopes limits the scopes of a 403 in bytes: a token may hold more than fits a header.
const maxChallengeScopes = 4 << 10

// Forbidden returns header and body of the 403 for a caller whose scopes do not suffice. The
// challenge names both the granted and the required scopes (Z2): some clients request exactly what
// the challenge says and would lose the rest.
func (g *Guard) Forbidden(p *Principal, scopes []string) (header http.Header, body []byte) {
	return g.ForbiddenAll(p, [][]string{scopes})
}

// ForbiddenAll is [Guard.Forbidden] for a batch. The challenge names the scopes that all of its
// calls require, each with a set of its own, so that the whole batch can be retried (Z3).
func (g *Guard) ForbiddenAll(p *Principal, sets [][]string) (header http.Header, body []byte) {
	var needed []string
	size := 0
	for _, set := range sets {
		if len(set) == 0 {
			set = g.defaultScopes
		}
		for _, s := range set {
			if !slices.Contains(needed, s) {
				needed = append(needed, s)
				size += len(s) + 1
			}
		}
	}
	var list []string
	if p != nil {
		for _, s := range p.Scopes {
			s = g.fullName(s)
			size += len(s) + 1
			if size > maxChallengeScopes {
				break
			}
			if s != offlineAccess && IsScope(s) && !slices.Contains(list, s) && !slices.Contains(needed, s) {
				list = append(list, s)
			}
		}
	}
	list = append(list, needed...)
	description := "the access token lacks a scope that this call needs"
	scheme, algs, metadata := "Bearer ", "", `, resource_metadata="`+g.challenges.url+`"`
	switch {
	case p != nil && p.bound:
		scheme, algs = "DPoP ", g.challenges.algs
	case p != nil && p.Credential == CredentialAPIKey: // no login gives a key more scopes
		description, metadata = "the API key lacks a scope that this call needs", ""
	}
	challenge := scheme + `error="insufficient_scope", error_description="` + description + `", ` + algs +
		`scope="` + strings.Join(list, " ") + `"` + metadata
	return http.Header{
		"Content-Type":     {"application/json"},
		"Cache-Control":    {"no-store"},
		"Www-Authenticate": {challenge},
	}, errorBody("insufficient_scope", description)
}

// fullName returns the name under which clients request a granted scope: URI/NAME if NAME implies
// it. Entra ID puts the short name into tokens, and a request for the short name means another
// scope.
func (g *Guard) fullName(scope string) string {
	full := scope
	for implied := range g.impliedScopes[scope] {
		if strings.HasSuffix(implied, "/"+scope) && strings.Contains(implied, ":") && (full == scope || implied < full) {
			full = implied
		}
	}
	return full
}
