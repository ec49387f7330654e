package credential

import (
	"crypto/md5" //nolint:gosec // the service's choice
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/timebox"
)

// TestDigestExamples are the examples of RFC 7616 section 3.9; the second with the value of erratum 4897.
func TestDigestExamples(t *testing.T) {
	for _, c := range []struct {
		challenge, client, username, password, target, response, user string
	}{
		{`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
			"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "Mufasa", "Circle of Life", "http://www.example.org/dir/index.html",
			"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", `username="Mufasa"`},
		{`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
			"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "Mufasa", "Circle of Life", "http://www.example.org/dir/index.html",
			"8ca523f5e9506fed4657c9700eebdbec", `username="Mufasa"`},
		{`Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true`,
			"NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", "Jäsøn Doe", "Secret, or not?", "http://api.example.org/doe.json",
			"3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", `username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", userhash=true`},
	} {
		challenges, ok := parseChallenges([]string{c.challenge})
		if !ok {
			t.Fatal(c.challenge)
		}
		s, err := newDigestSession(challenges[0].parameters)
		if err != nil {
			t.Fatal(err)
		}
		s.client = c.client
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := &digest{account: account{Fixed(c.username), Fixed(c.password)}}
		own, err := d.answer(req, s, s.first, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := own.Header.Get("Authorization"); !strings.Contains(got, `response="`+c.response+`"`) || !strings.HasPrefix(got, "Digest "+c.user+", realm=") {
			t.Error(got)
		}
	}
}

// digestService verifies digests by itself. Nonces end when it says so.
type digestService struct {
	algorithm, qop string
	parameters     string // further ones of challenges
	password       string
	next           bool // announce the next nonce with each response
	offer          func(nonce string, stale bool) []string

	mu    sync.Mutex
	nonce int
	seen  map[string]bool // nonce and nc
	hits  []string
}

func (s *digestService) current() string { return fmt.Sprint("nonce-", s.nonce) }

func (s *digestService) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := httptest.NewRecorder()
	header := req.Header.Get("Authorization")
	good, stale := s.verify(req, header, body)
	switch {
	case good && s.next:
		s.nonce++
		w.Header().Set("Authentication-Info", fmt.Sprintf(`nextnonce="%s", qop=auth`, s.current()))
	case good:
	case s.offer != nil:
		w.Header()["Www-Authenticate"] = s.offer(s.current(), stale)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		w.Header().Set("Www-Authenticate", fmt.Sprintf(`Digest realm="a \"realm\"", nonce="%s", qop="%s", algorithm=%s, stale=%t%s`, s.current(), s.qop, s.algorithm, stale, s.parameters))
		w.WriteHeader(http.StatusUnauthorized)
	}
	s.hits = append(s.hits, fmt.Sprintf("%s %d", strings.SplitN(header+" ", " ", 2)[0], w.Code))
	return w.Result(), nil
}

func (s *digestService) verify(req *http.Request, header string, body []byte) (good, stale bool) {
	challenges, ok := parseChallenges([]string{header})
	if !ok || len(challenges) != 1 || challenges[0].scheme != "digest" {
		return false, false
	}
	p := challenges[0].parameters
	name, session := strings.CutSuffix(s.algorithm, "-sess")
	sum := func(parts ...string) string {
		var h hash.Hash = sha256.New()
		if name == "MD5" {
			h = md5.New() //nolint:gosec // as above
		}
		io.WriteString(h, strings.Join(parts, ":"))
		return hex.EncodeToString(h.Sum(nil))
	}
	key := sum("gate way", `a "realm"`, s.password)
	if session {
		key = sum(key, p["nonce"], p["cnonce"])
	}
	signed := sum(req.Method, req.URL.RequestURI())
	if p["qop"] == "auth-int" {
		signed = sum(req.Method, req.URL.RequestURI(), sum(string(body)))
	}
	want := sum(key, p["nonce"], p["nc"], p["cnonce"], p["qop"], signed)
	if p["response"] != want || p["uri"] != req.URL.RequestURI() || p["username"] != "gate way" || !strings.Contains(s.qop, p["qop"]) {
		return false, false
	}
	once := p["nonce"] + p["nc"]
	if p["nonce"] != s.current() || s.seen[once] {
		return false, true
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[once] = true
	return true, false
}

func digestOptions() Options {
	return Options{Kind: Digest, Origin: origin0(), Username: Fixed("gate way"), Password: Fixed("s3cret")}
}

// The first request fetches the challenge, all others have the digest at once, with a count of their own, also at the same time and with
// bodies; an ended nonce costs one request.
func TestDigest(t *testing.T) {
	for _, algorithm := range []string{"MD5", "MD5-sess", "SHA-256", "SHA-256-sess"} {
		for _, qop := range []string{"auth", "auth-int", "auth-int, auth"} {
			s := &digestService{algorithm: algorithm, qop: qop, password: "s3cret"}
			rt := mustNew(t, digestOptions())(s)
			call := func() {
				t.Helper()
				if status, err := send(t.Context(), t, rt, "POST", resource+"/a%2Fb?q=1&r=a+b", strings.NewReader("body")); err != nil || status != 200 {
					t.Error(algorithm, qop, status, err)
				}
			}
			call()
			call()
			if got := strings.Join(s.hits, ", "); got != " 401, Digest 200, Digest 200" {
				t.Error(algorithm, qop, got)
			}
			var wg sync.WaitGroup
			for range 30 {
				wg.Go(call)
			}
			timebox.Done(t, wg.Wait)
			if len(s.hits) != 33 {
				t.Errorf("%s %s: %d requests", algorithm, qop, len(s.hits))
			}
			s.mu.Lock()
			s.nonce++
			s.mu.Unlock()
			call()
			call()
			if got := strings.Join(s.hits[33:], ", "); got != "Digest 401, Digest 200, Digest 200" {
				t.Error(algorithm, qop, got)
			}
		}
	}
}

// The nonce that a service announces is used next, with a count that begins anew.
func TestDigestNextNonce(t *testing.T) {
	s := &digestService{algorithm: "SHA-256", qop: "auth", password: "s3cret", next: true}
	rt := mustNew(t, digestOptions())(s)
	for range 4 {
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil || status != 200 {
			t.Error(status, err)
		}
	}
	if got := strings.Join(s.hits, ", "); got != " 401, Digest 200, Digest 200, Digest 200, Digest 200" {
		t.Error(got)
	}
}

// A wrong password is told once for each call, and the 401 is the answer.
func TestDigestWrongPassword(t *testing.T) {
	s := &digestService{algorithm: "SHA-256", qop: "auth", password: "another"}
	rt := mustNew(t, digestOptions())(s)
	for range 2 {
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil || status != 401 {
			t.Error(status, err)
		}
	}
	if got := strings.Join(s.hits, ", "); got != " 401, Digest 401, Digest 401" {
		t.Error(got)
	}
}

// The strongest algorithm is taken, wherever it stands, and no weaker one afterwards; Basic never.
func TestDigestChallenges(t *testing.T) {
	const sha, md = `Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256`, `Digest realm="r", nonce="n", qop="auth"`
	for name, c := range map[string]struct {
		first, second []string
		want          string // a part of the header, or of the error
	}{
		"strongest":     {[]string{md, sha, `Basic realm="r"`}, nil, "algorithm=SHA-256"},
		"one line":      {[]string{sha + ", " + md}, nil, "algorithm=SHA-256"},
		"default":       {[]string{md}, nil, `qop=auth, nc=00000001`},
		"unknown too":   {[]string{`Digest realm="r", nonce="n", qop="auth", algorithm=SHA3-256`, md}, nil, "Digest "},
		"opaque":        {[]string{sha + `, opaque=""`}, nil, `opaque=""`},
		"username*":     {[]string{sha + `, charset=UTF-8`}, nil, `username*=UTF-8''J%C3%A4s%20n`},
		"weaker later":  {[]string{sha}, []string{md}, "it has only weaker algorithms than before"},
		"unknown":       {[]string{`Digest realm="r", nonce="n", qop="auth", algorithm=SHA3-256`}, nil, "its algorithm is none of MD5, SHA-256 and SHA-512-256, with or without -sess"},
		"basic":         {[]string{`Basic realm="r"`}, nil, "it has no challenge for Digest"},
		"none":          {nil, nil, "it has no challenge for Digest"},
		"RFC 2069":      {[]string{`Digest realm="r", nonce="n"`}, nil, "its qop is neither auth nor auth-int (RFC 2069 is not supported)"},
		"no nonce":      {[]string{`Digest realm="r", qop="auth"`}, nil, "it has no nonce"},
		"malformed":     {[]string{`Digest realm="r`}, nil, "its WWW-Authenticate is malformed"},
		"control":       {[]string{"Digest realm=\"r\x01\", nonce=\"n\", qop=\"auth\""}, nil, "it holds a control character"},
		"other charset": {[]string{md}, nil, "Digest "},
	} {
		var headers []string
		offers := [][]string{c.first, c.second}
		rt := mustNew(t, Options{Kind: Digest, Origin: origin0(), Username: Fixed("Jäs n"), Password: Fixed("p")})(through(func(req *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			headers = append(headers, req.Header.Get("Authorization"))
			if n := len(headers); n == 1 || n == 3 {
				w.Header()["Www-Authenticate"] = offers[(n-1)/2]
				w.WriteHeader(http.StatusUnauthorized)
			}
			return w.Result(), nil
		}))
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		if c.second != nil && err == nil {
			_, err = send(t.Context(), t, rt, "GET", resource, nil)
		}
		var failure *TokenError
		switch last := headers[len(headers)-1]; {
		case errors.As(err, &failure):
			if failure.Failure != Unusable || !strings.HasSuffix(err.Error(), ": "+c.want) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || !strings.Contains(last, c.want):
			t.Errorf("%s: %v %s", name, err, last)
		}
	}
	rt := mustNew(t, Options{Kind: Digest, Origin: origin0(), Username: Fixed("日本"), Password: Fixed("p")})
	_, err := send(t.Context(), t, rt(&digestService{offer: func(string, bool) []string { return []string{md} }}), "GET", resource, nil)
	if err == nil || !strings.Contains(err.Error(), "characters beyond ISO-8859-1") {
		t.Error(err)
	}
}

// A challenge of another origin gets no digest, and a body that can be read only once is not sent in part.
func TestDigestOrigin(t *testing.T) {
	s := &digestService{algorithm: "SHA-256", qop: "auth", password: "s3cret"}
	rt := mustNew(t, digestOptions())(s)
	if status, err := send(t.Context(), t, rt, "GET", "https://billing.example.com/", nil); err != nil || status != 401 {
		t.Error(status, err)
	}
	if got := strings.Join(s.hits, ", "); got != " 401" {
		t.Error(got)
	}
	_, err := send(t.Context(), t, rt, "POST", resource, io.NopCloser(strings.NewReader("once")))
	if err == nil || !strings.Contains(err.Error(), "can be read only once") {
		t.Error(err)
	}
}

// FuzzDigest: no challenge makes a header that is two, or of another origin, and none panics.
func FuzzDigest(f *testing.F) {
	f.Add(`Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess, userhash=true, charset=UTF-8`)
	f.Add(`Digest realm="\"", nonce="\\", qop="auth-int,auth", opaque="a,b"`)
	f.Fuzz(func(t *testing.T, challenge string) {
		var last http.Header
		rt := mustNew(t, digestOptions())(through(func(req *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			last = req.Header
			if last.Get("Authorization") == "" {
				w.Header()["Www-Authenticate"] = []string{challenge}
				w.WriteHeader(http.StatusUnauthorized)
			}
			return w.Result(), nil
		}))
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		values := last["Authorization"]
		if err != nil {
			if strings.Contains(err.Error(), "s3cret") {
				t.Error(err)
			}
			return
		}
		if len(values) > 1 || len(values) == 1 && !isFieldValue(values[0]) {
			t.Errorf("%q", values)
		}
		if challenges, ok := parseChallenges(values); len(values) == 1 && (!ok || len(challenges) != 1 || challenges[0].scheme != "digest") {
			t.Errorf("%q is not one digest", values)
		}
	})
}
