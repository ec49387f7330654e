package credential

import (
	"crypto/md5" //nolint:gosec // most services know no other algorithm
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// digest answers the challenges of one service with digests of the user name, the password and the
// request (RFC 7616). The last challenge is used for all further requests, each with a count of its
// own, until the service sends another one.
type digest struct {
	endpoint string // host and port, for errors
	account  account

	mu        sync.Mutex
	current   *digestSession // nil before the first challenge
	strongest int            // strength of the strongest algorithm that the service has offered
}

// digestSession is a challenge that is answered. Only nonce and count change, guarded by digest.mu.
type digestSession struct {
	realm, opaque string
	hasOpaque     bool
	algorithm     digestAlgorithm
	first         string // the nonce of the challenge, which a session algorithm uses throughout (section 3.4.2)
	client        string // "cnonce"
	integrity     bool   // "qop" is auth-int
	utf8          bool   // "charset" is UTF-8
	userhash      bool

	nonce string
	count uint32
}

// digestAlgorithm is an algorithm of RFC 7616 section 3.2.
type digestAlgorithm struct {
	name     string // as the service writes it; empty if it does not
	session  bool
	strength int
	new      func() hash.Hash
}

// parseDigestAlgorithm returns an algorithm by its name; MD5 if there is none.
func parseDigestAlgorithm(name string) (a digestAlgorithm, ok bool) {
	a.name = name
	base, isSession := strings.CutSuffix(strings.ToUpper(name), "-SESS")
	a.session = isSession
	switch base {
	case "", "MD5":
		a.strength, a.new = 1, md5.New
	case "SHA-256":
		a.strength, a.new = 2, sha256.New
	case "SHA-512-256":
		a.strength, a.new = 3, sha512.New512_256
	default:
		return a, false
	}
	return a, true
}

func (a digestAlgorithm) sum(parts ...string) string {
	h := a.new()
	for i, part := range parts {
		if i > 0 {
			h.Write([]byte{':'})
		}
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func newDigest(o Options) (*digest, error) {
	d := &digest{account: account{o.Username, o.Password}}
	if o.Origin != nil {
		d.endpoint = o.Origin.Host
	}
	username, _, err := d.account.read()
	if strings.Contains(username, ":") { // section 3.4.2: it separates the name from the realm
		err = errors.Join(err, errors.New("credential: username holds a colon"))
	}
	return d, err
}

// apply returns a copy of req with the digest, and the nonce of the digest. Before the first
// challenge there is none of both.
func (d *digest) apply(req *http.Request) (*http.Request, string, error) {
	d.mu.Lock()
	s := d.current
	var nonce string
	var count uint32
	if s != nil {
		s.count++
		nonce, count = s.nonce, s.count
	}
	d.mu.Unlock()
	if s == nil {
		own := req.WithContext(req.Context()) // a shallow copy
		own.Header = cloneHeader(req.Header, "Authorization")
		return own, "", nil
	}
	own, err := d.answer(req, s, nonce, count)
	return own, nonce, err
}

// maxDigests is the number of times that one request is sent: without a digest or with an old
// nonce, with the nonce of the challenge, and with another one if that has ended in between.
const maxDigests = 3

// settle processes the response to a request with the digest of a nonce, and sends it again if the
// response has a challenge that is no verdict on the password. A service that answers 401 has not
// acted on the request.
func (d *digest) settle(next http.RoundTripper, own *http.Request, nonce string, resp *http.Response) (*http.Response, error) {
	challenged := false // whether nonce is that of a challenge to this very request
	for n := 1; ; n++ {
		if resp.StatusCode != http.StatusUnauthorized {
			d.renew(nonce, resp.Header)
			return resp, nil
		}
		if n == maxDigests {
			return resp, nil
		}
		s, stale, err := d.challenge(resp.Header)
		switch {
		case errors.Is(err, errNoDigest) && nonce != "": // not about the digest
			return resp, nil
		case err == nil && challenged && !stale, err == nil && nonce == s.first && !stale: // the password is wrong
			return resp, nil
		case err == nil && !replayable(own):
			err = errors.New("the body of the request can be read only once, so it can't be sent again with a digest")
		}
		if err != nil {
			discard(resp)
			return nil, &TokenError{Failure: Unusable, Kind: Digest, Endpoint: d.endpoint, detail: err.Error()}
		}
		d.mu.Lock()
		d.current = s
		s.count++
		count := s.count
		d.mu.Unlock()
		second, err := d.answer(own, s, s.first, count)
		if err != nil {
			discard(resp)
			return nil, err
		}
		nonce, challenged = s.first, true
		if resp, err = resend(next, second, resp); err != nil {
			return nil, err
		}
	}
}

// renew takes the next nonce that a service announces (section 3.5), unless the nonce was replaced
// in the meantime.
func (d *digest) renew(nonce string, h http.Header) {
	values := h["Authentication-Info"]
	if len(values) == 0 || nonce == "" {
		return
	}
	// The header has the parameters of a challenge without the scheme.
	challenges, ok := parseChallenges([]string{"Digest " + values[0]})
	if !ok || len(challenges) != 1 {
		return
	}
	following := challenges[0].parameters["nextnonce"]
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.current; s != nil && s.nonce == nonce && following != "" && following != nonce && isFieldValue(following) {
		s.nonce, s.count = following, 0
	}
}

var errNoDigest = errors.New("it has no challenge for Digest")

// challenge returns the session for the challenge with the strongest algorithm, and whether it is
// sent because a nonce has ended. The error says why none can be answered. Once a service has offered
// an algorithm, a weaker one is refused: somebody on the way may have removed the stronger challenge.
func (d *digest) challenge(h http.Header) (best *digestSession, stale bool, err error) {
	challenges, ok := parseChallenges(h["Www-Authenticate"])
	if !ok {
		return nil, false, errors.New("its WWW-Authenticate is malformed")
	}
	err = errNoDigest
	for _, c := range challenges {
		if c.scheme != "digest" {
			continue
		}
		s, reason := newDigestSession(c.parameters)
		switch {
		case reason != nil:
			if best == nil {
				err = reason
			}
		case best == nil || s.algorithm.strength > best.algorithm.strength:
			best, stale = s, strings.EqualFold(c.parameters["stale"], "true")
		}
	}
	if best == nil {
		return nil, false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if best.algorithm.strength < d.strongest {
		return nil, false, errors.New("it has only weaker algorithms than before")
	}
	d.strongest = best.algorithm.strength
	return best, stale, nil
}

// newDigestSession returns the session for the parameters of a challenge (section 3.3). The challenge
// of RFC 2069, without qop, is refused: its digest can be replayed.
func newDigestSession(parameters map[string]string) (*digestSession, error) {
	s := &digestSession{
		realm: parameters["realm"], first: parameters["nonce"], nonce: parameters["nonce"], client: rand.Text(),
		utf8: strings.EqualFold(parameters["charset"], "utf-8"), userhash: strings.EqualFold(parameters["userhash"], "true"),
	}
	s.opaque, s.hasOpaque = parameters["opaque"]
	var ok bool
	if s.algorithm, ok = parseDigestAlgorithm(parameters["algorithm"]); !ok {
		return nil, errors.New("its algorithm is none of MD5, SHA-256 and SHA-512-256, with or without -sess")
	}
	if s.nonce == "" {
		return nil, errors.New("it has no nonce")
	}
	for _, text := range []string{s.realm, s.nonce, s.opaque} {
		if !isFieldValue(text) {
			return nil, errors.New("it holds a control character")
		}
	}
	s.integrity = true
	known := false
	for option := range strings.SplitSeq(parameters["qop"], ",") {
		switch strings.ToLower(strings.TrimSpace(option)) {
		case "auth":
			s.integrity, known = false, true // the other one reads each body twice
		case "auth-int":
			known = true
		}
	}
	if !known {
		return nil, errors.New("its qop is neither auth nor auth-int (RFC 2069 is not supported)")
	}
	return s, nil
}

// answer returns a copy of req with the digest (section 3.4).
func (d *digest) answer(req *http.Request, s *digestSession, nonce string, count uint32) (*http.Request, error) {
	username, password, err := d.secrets(s)
	if err != nil {
		return nil, err
	}
	a := s.algorithm
	key := a.sum(username, s.realm, password)
	if a.session {
		key = a.sum(key, s.first, s.client)
	}
	target := req.URL.RequestURI()
	quality, signed := "auth", a.sum(req.Method, target)
	if s.integrity {
		body, err := hashBody(req, a.new())
		if err != nil {
			return nil, err
		}
		quality, signed = "auth-int", a.sum(req.Method, target, body)
	}
	nc := fmt.Sprintf("%08x", count)
	response := a.sum(key, nonce, nc, s.client, quality, signed)

	var b strings.Builder
	b.WriteString("Digest ")
	switch {
	case s.userhash:
		fmt.Fprintf(&b, `username="%s", userhash=true`, a.sum(username, s.realm))
	case strings.ContainsFunc(username, func(r rune) bool { return r > '~' }) && s.utf8:
		b.WriteString("username*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(username), "+", "%20")) // RFC 5987
	default:
		b.WriteString("username=" + quoteParameter(username))
	}
	fmt.Fprintf(&b, `, realm=%s, nonce=%s, uri=%s, response="%s", cnonce="%s", qop=%s, nc=%s`,
		quoteParameter(s.realm), quoteParameter(nonce), quoteParameter(target), response, s.client, quality, nc)
	if a.name != "" {
		b.WriteString(", algorithm=" + a.name)
	}
	if s.hasOpaque {
		b.WriteString(", opaque=" + quoteParameter(s.opaque))
	}
	recordSent(req.Context(), response)
	return field{Header, "Authorization"}.set(req, []string{b.String()}), nil
}

// secrets returns the user name and the password in the encoding of the challenge (section 4): UTF-8
// if it says so, otherwise ISO-8859-1, which older services expect.
func (d *digest) secrets(s *digestSession) (username, password string, err error) {
	if username, password, err = d.account.read(); err != nil || s.utf8 {
		return username, password, err
	}
	for _, text := range []*string{&username, &password} {
		latin := make([]byte, 0, len(*text))
		for _, r := range *text {
			if r > 0xff {
				return "", "", &TokenError{Failure: Unusable, Kind: Digest, Endpoint: d.endpoint,
					detail: "user name or password have characters beyond ISO-8859-1, and its charset is not UTF-8"}
			}
			latin = append(latin, byte(r))
		}
		*text = string(latin)
	}
	return username, password, nil
}

// quoteParameter returns a quoted-string (RFC 9110 section 5.6.4).
func quoteParameter(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
