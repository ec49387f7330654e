package relyingparty

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// lifetime is how long somebody may take to sign in at the provider.
	lifetime = 10 * time.Minute
	// maxCookie is the most bytes of a cookie's name and value that browsers must keep (RFC 6265 section 6.1).
	maxCookie = 4096
	// hostPrefix is the beginning of names that browsers accept only from HTTPS, from the host itself and for its path / (RFC 6265bis
	// section 4.1.3.2): neither a sibling domain nor plain HTTP can set such a cookie.
	hostPrefix = "__Host-"
	// suffixLength is the number of characters of the state in the names of cookies of parallel logins.
	suffixLength = 16
)

// Cookie is how the browser keeps logins that are under way.
type Cookie struct {
	// Name is the name without the prefix __Host-, which it has if Secure is set.
	Name string
	// Path is the path of the cookie over plain HTTP.
	Path string
	// Secure reports whether browsers reach the party over HTTPS.
	Secure bool
	// Parallel lets a browser have several logins under way, each with a cookie of its own. It is for parties whose logins begin with a
	// decision of the user: a page of another site could fill the browser with cookies otherwise.
	Parallel bool
}

// pending is a login that is under way at the provider. The browser keeps it, sealed, so that no number of logins takes memory.
type pending struct {
	State    string          `json:"s"`
	Nonce    string          `json:"n"`
	Verifier string          `json:"v"` // of PKCE
	Issuer   string          `json:"i"`
	Began    int64           `json:"b"` // Unix time
	Data     json.RawMessage `json:"d"`
}

// cookieName returns the name of the cookie of the login with a state.
func (p *Party) cookieName(state string) string {
	name := p.o.Cookie.Name
	if p.o.Cookie.Parallel {
		name += "_" + state[:min(suffixLength, len(state))]
	}
	if p.o.Cookie.Secure {
		return hostPrefix + name
	}
	return name
}

// setCookie sets the cookie of a login.
func (p *Party) setCookie(w http.ResponseWriter, l *pending) error {
	text, err := json.Marshal(l)
	if err != nil {
		return unavailable(err, "This sign-in can't be begun. The log says why.")
	}
	name := p.cookieName(l.State)
	value := p.o.Sealer.Seal(text, []byte(name))
	if len(name)+len(value) > maxCookie {
		return failed("The request is too long for the browser to keep it during the sign-in.")
	}
	http.SetCookie(w, p.cookie(name, value, int(lifetime/time.Second)))
	return nil
}

// takeCookie returns the login of a request and removes its cookie. It returns false if the request has none, or if the login began more than
// lifetime ago.
func (p *Party) takeCookie(w http.ResponseWriter, r *http.Request, state string) (*pending, bool) {
	name := p.cookieName(state)
	http.SetCookie(w, p.cookie(name, "", -1))
	c, err := r.Cookie(name)
	if err != nil {
		return nil, false
	}
	text, err := p.o.Sealer.Open(c.Value, []byte(name))
	if err != nil {
		return nil, false
	}
	l := &pending{}
	if json.Unmarshal(text, l) != nil || p.o.Now().Sub(time.Unix(l.Began, 0)) > lifetime {
		return nil, false
	}
	return l, true
}

// cookie returns the cookie of a login. It is SameSite=Lax, because the provider's redirect is a cross-site navigation, which has no
// cookie that is Strict.
func (p *Party) cookie(name, value string, maxAge int) *http.Cookie {
	path := p.o.Cookie.Path
	if p.o.Cookie.Secure {
		path = "/"
	}
	return &http.Cookie{Name: name, Value: value, Path: path, MaxAge: maxAge, Secure: p.o.Cookie.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
