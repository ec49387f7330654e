package signin

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

func everybody(Identity) bool { return true }

// with returns a request with a session cookie.
func with(id string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/console", nil)
	if id != "" {
		r.AddCookie(&http.Cookie{Name: cookieName(true), Value: id})
	}
	return r
}

// begin begins a session, from a browser that brings an identifier, and returns the cookie.
func begin(t *testing.T, s *Sessions, brought string, who Identity) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	s.Begin(w, with(brought), who, true)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	return cookies[0]
}

// TestSessionFixation: a sign-in gives a new identifier, and ends the session before.
func TestSessionFixation(t *testing.T) {
	s := NewSessions(time.Now)
	if got := begin(t, s, "chosen-by-somebody-else", Identity{Name: "mia"}); got.Value == "chosen-by-somebody-else" {
		t.Error("the identifier that the browser brought was taken")
	}
	if s.Of(with("chosen-by-somebody-else"), true, everybody) != nil {
		t.Error("an identifier that a browser brought has a session")
	}
	first := begin(t, s, "", Identity{Name: "mia"})
	second := begin(t, s, first.Value, Identity{Name: "noah"})
	if second.Value == first.Value {
		t.Error("the second sign-in has the identifier of the first")
	}
	if s.Of(with(first.Value), true, everybody) != nil {
		t.Error("the session before goes on")
	}
	if got := s.Of(with(second.Value), true, everybody); got == nil || got.Name != "noah" {
		t.Errorf("the second session is of %+v", got)
	}
}

func TestSessionCookie(t *testing.T) {
	c := begin(t, NewSessions(time.Now), "", Identity{})
	if c.Name != "__Host-drawbridge_console" || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 12*60*60 || len(c.Value) != 43 {
		t.Errorf("%+v", c)
	}
}

// TestCookiesOfSchemes: over HTTPS the cookie has a name that no other host can set, and a session is found by that name alone;
// over plain HTTP it has the path of the console.
func TestCookiesOfSchemes(t *testing.T) {
	for _, secure := range []bool{true, false} {
		s, w := NewSessions(time.Now), httptest.NewRecorder()
		s.Begin(w, with(""), Identity{Name: "mia"}, secure)
		session := w.Result().Cookies()[0]
		if secure != (session.Name == "__Host-drawbridge_console" && session.Path == "/" && session.Secure && session.Domain == "") ||
			secure == (session.Name == "drawbridge_console" && session.Path == "/console") {
			t.Errorf("secure %v: %v", secure, session)
		}
		for _, asked := range []bool{true, false} {
			r := httptest.NewRequest(http.MethodGet, "/console", nil)
			r.AddCookie(&http.Cookie{Name: session.Name, Value: session.Value})
			if (s.Of(r, asked, everybody) != nil) != (asked == secure) {
				t.Errorf("a cookie %s is taken over HTTPS: %v", session.Name, asked)
			}
		}
		end := httptest.NewRecorder()
		s.End(end, with(""), secure)
		if c := end.Result().Cookies()[0]; c.Name != session.Name || c.Path != session.Path || c.MaxAge >= 0 {
			t.Errorf("ended with %v", c)
		}
	}
}

// TestSessionExpires: a session lasts 12 hours, however often it is used.
func TestSessionExpires(t *testing.T) {
	now := time.Now()
	s := NewSessions(func() time.Time { return now })
	c := begin(t, s, "", Identity{})
	for range 12 {
		if s.Of(with(c.Value), true, everybody) == nil {
			t.Fatal("the session ended early")
		}
		now = now.Add(time.Hour)
	}
	if s.Of(with(c.Value), true, everybody) != nil {
		t.Error("the session goes on after 12 hours")
	}
}

// TestSessionOfInvalidCredential: a session that ended for its credential does not come back with it.
func TestSessionOfInvalidCredential(t *testing.T) {
	s := NewSessions(time.Now)
	c := begin(t, s, "", Identity{})
	if s.Of(with(c.Value), true, func(Identity) bool { return false }) != nil || s.Of(with(c.Value), true, everybody) != nil {
		t.Error("the session goes on without its credential")
	}
}

// TestSessionsAreBounded: one session more than the most ends the oldest.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Now()
	s := NewSessions(func() time.Time { return now })
	var all []*http.Cookie
	for range maxSessions + 1 {
		now = now.Add(time.Millisecond)
		all = append(all, begin(t, s, "", Identity{}))
	}
	if len(s.byID) != maxSessions {
		t.Errorf("%d sessions", len(s.byID))
	}
	if s.Of(with(all[0].Value), true, everybody) != nil || s.Of(with(all[1].Value), true, everybody) == nil {
		t.Error("another session than the oldest ended")
	}
}

// TestFailures: an address has 10 failures at once, and one more every 30 s; the networks of IPv6 clients count as one.
func TestFailures(t *testing.T) {
	now := time.Now()
	f := NewFailures(func() time.Time { return now })
	wrong := func() bool { return false }
	four, six, neighbour, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff"), netip.MustParseAddr("2001:db8:0:1::1")
	for i := range failureBurst {
		if wait := f.Attempt(four, true, wrong) + f.Attempt(six, true, wrong); wait != 0 {
			t.Fatalf("attempt %d waits %s", i, wait)
		}
	}
	if f.Attempt(four, true, func() bool { t.Error("an attempt beyond the limit was made"); return true }) != failureInterval {
		t.Error("no limit")
	}
	if f.Wait(netip.MustParseAddr("::ffff:192.0.2.1")) == 0 || f.Wait(neighbour) == 0 {
		t.Error("another spelling or address of the same client is not limited")
	}
	if f.Wait(other) != 0 || f.Wait(netip.Addr{}) != 0 {
		t.Error("another client is limited")
	}
	if wait := f.Attempt(four, false, func() bool { return true }); wait != 0 {
		t.Errorf("others' failures keep the right credential out for %s", wait)
	}
	if wait := f.Attempt(four, false, wrong); wait != failureInterval {
		t.Errorf("one failure more waits %s", wait)
	}
	now = now.Add(failureInterval)
	if f.Attempt(four, true, wrong) != 0 || f.Wait(four) == 0 {
		t.Error("after the interval there is not one attempt more")
	}
	for range 100 {
		if f.Attempt(other, true, func() bool { return true }) != 0 {
			t.Fatal("successes count")
		}
	}
}
