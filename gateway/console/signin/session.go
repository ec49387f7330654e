package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

const (
	// Lifetime is how long a session lasts after its sign-in, however often it is used.
	Lifetime = 12 * time.Hour
	// Cookie is the name of the cookie with the identifier of a session, which has hostPrefix over HTTPS.
	Cookie = "drawbridge_console"
	// hostPrefix is the beginning of names that browsers accept only from HTTPS, from the host itself and for its path / (RFC 6265bis
	// section 4.1.3.2): neither a sibling domain nor plain HTTP can set such a cookie.
	hostPrefix = "__Host-"
	// Path is the path below which the console is, and the path of its cookies over plain HTTP.
	Path = "/console"
	// maxSessions is the most sessions at a time. One more ends the oldest.
	maxSessions = 1000
)

// Identity is who signed in, as a credential of the configuration says.
type Identity struct {
	Name string // of the token, or of the person at the OpenID provider
	Role Role
	// Grant identifies the credential of the configuration by which the session began, see [Sessions].
	Grant [sha256.Size]byte
}

// Session is somebody who is signed in. It is immutable.
type Session struct {
	Identity
	CSRF  string // a secret that each form of the session's pages has
	Began time.Time
}

// Sessions are the sessions of a gateway, in memory: a restart ends them. They are safe for concurrent use.
type Sessions struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[[sha256.Size]byte]*Session // by digest of the identifier
}

// NewSessions returns no sessions. now is the clock.
func NewSessions(now func() time.Time) *Sessions {
	return &Sessions{now: now, byID: map[[sha256.Size]byte]*Session{}}
}

// Begin begins a session and sets its cookie; the session that the request has ends. secure restricts the cookie to
// HTTPS.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, who Identity, secure bool) {
	id := secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, err := r.Cookie(cookieName(secure)); err == nil {
		delete(s.byID, sha256.Sum256([]byte(c.Value)))
	}
	s.makeRoom()
	s.byID[sha256.Sum256([]byte(id))] = &Session{Identity: who, CSRF: secret(), Began: s.now()}
	http.SetCookie(w, cookie(id, int(Lifetime/time.Second), secure))
}

// makeRoom removes sessions that are over, and the oldest if there are too many.
func (s *Sessions) makeRoom() {
	var oldest [sha256.Size]byte
	var began time.Time
	for id, session := range s.byID {
		if s.over(session) {
			delete(s.byID, id)
		} else if began.IsZero() || session.Began.Before(began) {
			oldest, began = id, session.Began
		}
	}
	if len(s.byID) >= maxSessions {
		delete(s.byID, oldest)
	}
}

func (s *Sessions) over(session *Session) bool { return s.now().Sub(session.Began) >= Lifetime }

// Of returns the session of a request; nil if it has none, it is over, or its credential is no longer valid. secure is that of
// [Sessions.Begin].
func (s *Sessions) Of(r *http.Request, secure bool, valid func(Identity) bool) *Session {
	c, err := r.Cookie(cookieName(secure))
	if err != nil {
		return nil
	}
	id := sha256.Sum256([]byte(c.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.byID[id]
	if session == nil {
		return nil
	}
	if s.over(session) || !valid(session.Identity) {
		delete(s.byID, id)
		return nil
	}
	return session
}

// End ends the session of a request and removes its cookie.
func (s *Sessions) End(w http.ResponseWriter, r *http.Request, secure bool) {
	if c, err := r.Cookie(cookieName(secure)); err == nil {
		s.mu.Lock()
		delete(s.byID, sha256.Sum256([]byte(c.Value)))
		s.mu.Unlock()
	}
	http.SetCookie(w, cookie("", -1, secure))
}

// cookieName returns the name of the cookie. secure reports whether browsers reach the console over HTTPS.
func cookieName(secure bool) string {
	if secure {
		return hostPrefix + Cookie
	}
	return Cookie
}

// cookiePath returns the path of the cookie, which a name with hostPrefix leaves no choice.
func cookiePath(secure bool) string {
	if secure {
		return "/"
	}
	return Path
}

func cookie(value string, maxAge int, secure bool) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(secure), Value: value, Path: cookiePath(secure), MaxAge: maxAge, Secure: secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// secret returns 256 random bits.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
