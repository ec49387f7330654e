package authtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

// TestCases runs the conversations in testdata. A case is a text that says why it exists, a file "options" with words
// (see caseOptions), and steps: a request in the file "NAME", and what came of it in "NAME answer". In a request, lines
// that begin with "?" or "&" belong to the line before. AUTHORIZE and REDEEM are the requests of a login by the client
// app; lines below change their parameters (an empty value removes one) or add headers. What is random gets a number when it
// is first seen, "$1" and so on, and requests name it so. Steps that are no requests: "WAIT 61s" moves the clock, "JWT $1"
// shows a token.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		got := &txtar.Archive{Comment: a.Comment}
		c := &conversation{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
		for _, f := range a.Files {
			switch {
			case f.Name == "options":
				c.start(t, strings.Fields(string(f.Data)))
				got.Files = append(got.Files, f)
			case !strings.HasSuffix(f.Name, " answer"):
				got.Files = append(got.Files, f, txtar.File{Name: f.Name + " answer", Data: []byte(c.step(t, string(f.Data)))})
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(got))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// testOptions are those of all cases.
func testOptions() Options {
	return Options{
		Issuer:          "http://127.0.0.1:9400",
		Resources:       []string{"https://mcp.example.com/mcp", "https://orders.internal"},
		DefaultResource: "https://mcp.example.com/mcp",
		Scopes:          []Scope{{"orders:read", "see orders"}, {"orders:write", "change orders"}, {"stock", ""}},
		DefaultScopes:   []string{"orders:read"},
		Clients: []Client{
			{ID: "app", Name: "An app", RedirectURIs: []string{"http://127.0.0.1/callback", "https://app.example.com/cb?from=as"}},
			{ID: "other", RedirectURIs: []string{"com.example.other:/cb"}},
			{ID: "gateway", Secret: "gate:way", RedirectURIs: []string{"https://gateway.example.com/cb"}, Scopes: []string{"stock"}},
			{ID: "noisy", Secret: "s", Grants: []string{grantClient}, RedirectURIs: []string{"https://noisy.example.com/cb"}},
		},
	}
}

func caseOptions(t *testing.T, words []string) Options {
	o := testOptions()
	for _, word := range words {
		switch {
		case word == "auto":
			o.AutoConsent = true
		case word == "entra":
			o.EntraID = true
		case word == "opaque":
			o.OpaqueTokens = true
		case word == "no-refresh":
			o.NoRefreshTokens = true
		case word == "strangers":
			o.UnknownClients = true
		case word == "no-default":
			o.DefaultResource, o.Resources = "", nil
		case strings.HasPrefix(word, "/"):
			o.Issuer += word
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return o
}

type conversation struct {
	server *Server
	now    time.Time
	random []string // what stands for $1, $2, …
}

func (c *conversation) start(t *testing.T, words []string) {
	o := caseOptions(t, words)
	o.Now = func() time.Time { return c.now }
	var err error
	if c.server, err = NewServer(o); err != nil {
		t.Fatal(err)
	}
}

var (
	folded    = regexp.MustCompile(`\n([?&])`)
	reference = regexp.MustCompile(`\$[0-9]+`)
	secret    = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+|\b(dyn-)?[A-Z2-7]{26}\b|"(kid|x|y)":"[\w-]{43}"`)
)

func (c *conversation) step(t *testing.T, text string) string {
	text = reference.ReplaceAllStringFunc(folded.ReplaceAllString(strings.TrimSuffix(text, "\n"), "$1"), func(name string) string {
		n := 0
		if _, err := fmt.Sscanf(name, "$%d", &n); err != nil || n < 1 || n > len(c.random) {
			t.Errorf("%s was not seen yet", name)
			return "unseen"
		}
		return c.random[n-1]
	})
	if wait, ok := strings.CutPrefix(text, "WAIT "); ok {
		d, err := time.ParseDuration(wait)
		if err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(d)
		return c.now.Format(time.TimeOnly) + "\n"
	}
	if token, ok := strings.CutPrefix(text, "JWT "); ok {
		return c.hide(showJWT(t, token))
	}
	text = expand(text)
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	method, target, _ := strings.Cut(lines[0], " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = c.server.issuer.Host
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case name == "Basic":
			r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
		case value == "-":
			r.Header.Del(name)
		case name == "Content-Type":
			r.Header.Set(name, value)
		default:
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", w.Code)
	for _, name := range []string{"Location", "Www-Authenticate", "Allow", "Set-Cookie", "Content-Security-Policy"} {
		if value := w.Header().Get(name); value != "" && (name != "Content-Security-Policy" || w.Code == http.StatusOK) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers that every answer needs are missing: %v", w.Header())
	}
	switch kind := w.Header().Get("Content-Type"); {
	case strings.HasPrefix(kind, "text/html"):
		if h := w.Header(); h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("the page can be framed: %v", h)
		}
		b.WriteString(showPage(w.Body.String()))
	case kind == "application/json" && len(w.Body.String()) > 300:
		var indented bytes.Buffer
		if err := json.Indent(&indented, w.Body.Bytes(), "", "  "); err != nil {
			t.Error(err)
		}
		b.Write(indented.Bytes())
	default:
		b.Write(w.Body.Bytes())
	}
	return c.hide(strings.TrimRight(b.String(), "\n") + "\n")
}

// The example of RFC 7636 appendix B.
const (
	exampleVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	exampleChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// expand writes AUTHORIZE and REDEEM out.
func expand(text string) string {
	lines := strings.Split(text, "\n")
	word, secret, _ := strings.Cut(lines[0], " ")
	var parameters []string
	switch word {
	case "AUTHORIZE":
		parameters = []string{"client_id=app", "redirect_uri=http://127.0.0.1:5000/callback", "response_type=code",
			"code_challenge=" + exampleChallenge, "code_challenge_method=S256"}
	case "REDEEM":
		parameters = []string{"grant_type=authorization_code", "client_id=app", "redirect_uri=http://127.0.0.1:5000/callback",
			"code=" + secret, "code_verifier=" + exampleVerifier}
	default:
		return text
	}
	headers, changed := "", map[string]bool{}
	for _, line := range lines[1:] {
		if strings.Contains(line, ": ") {
			headers += "\n" + line
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if !changed[name] {
			parameters = slices.DeleteFunc(parameters, func(p string) bool { return strings.HasPrefix(p, name+"=") })
		}
		changed[name] = true
		if value != "" {
			parameters = append(parameters, line)
		}
	}
	if word == "AUTHORIZE" {
		return "GET /authorize?" + strings.Join(parameters, "&") + headers
	}
	return "POST /token" + headers + "\n\n" + strings.Join(parameters, "&")
}

// hide puts numbers for what is random.
func (c *conversation) hide(text string) string {
	return secret.ReplaceAllStringFunc(text, func(s string) string {
		for n, known := range c.random {
			if known == s {
				return fmt.Sprintf("$%d", n+1)
			}
		}
		if strings.HasPrefix(s, `"`) {
			return s[:strings.Index(s, ":")] + `:"…"`
		}
		c.random = append(c.random, s)
		return fmt.Sprintf("$%d", len(c.random))
	})
}

var (
	styles = regexp.MustCompile(`(?s)<style>.*?</style>`)
	inputs = regexp.MustCompile(`<input type="(\w+)" name="(\w+)" value="([^"]*)"( checked)?>`)
	ends   = regexp.MustCompile(`</(title|h1|p|dd|li|button)>|\[hidden [^\]]*\]`)
	tags   = regexp.MustCompile(`<[^>]*>`)
)

// showPage shows what a reader and a browser see.
func showPage(page string) string {
	page = inputs.ReplaceAllString(styles.ReplaceAllString(page, ""), "[$1 $2=$3$4]")
	page = ends.ReplaceAllString(page, "$0\n")
	var b strings.Builder
	for line := range strings.Lines(html.UnescapeString(tags.ReplaceAllString(page, " "))) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func showJWT(t *testing.T, token string) string {
	parts := strings.Split(token, ".")
	var b strings.Builder
	for _, part := range parts[:2] {
		text, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatalf("%q is not a JWT: %v", token, err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}
