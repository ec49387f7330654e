package console

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"

	"drawbridge/gateway/console/signin"
)

// contentSecurityPolicy allows what a page of the console consists of: one style sheet, htmx, and forms and requests to
// the console itself. Nothing inline is executed, and no page can frame another.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxForm is the most bytes of a form.
const maxForm = 1 << 20

// middleware returns what each request passes, in this order:
//   - the switch: a console that is off does not exist;
//   - headers, so that errors of what follows have them as well;
//   - the same-origin check of forms: a page of another site must not sign anybody in or out (O12);
//   - the session.
//
// The check of Host stands before, for the whole admin listener (DNS rebinding).
func (c *Console) middleware(next http.Handler) http.Handler {
	return c.onlyOn(headers(c.sameOrigin(c.withSession(next))))
}

func (c *Console) onlyOn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.On() {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// sameOrigin rejects requests with side effects that a page of another origin makes.
func (c *Console) sameOrigin(next http.Handler) http.Handler {
	check := http.NewCrossOriginProtection()
	check.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, http.StatusForbidden, "This request comes from a page of another site.")
	}))
	return check.Handler(next)
}

// sessionKey is the key of the session in a request's context.
type sessionKey struct{}

// withSession adds the session of a request to its context.
func (c *Console) withSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := c.sessions.Of(r, c.o.Config().Admin.ConsoleSecure(), c.valid); s != nil {
			r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, s))
		}
		next.ServeHTTP(w, r)
	})
}

// valid reports whether the credential by which a session began is still configured.
func (c *Console) valid(who signin.Identity) bool {
	a := &c.o.Config().Admin
	return signin.NewTokens(a).Valid(who) || c.provider.Valid(a.Console.OIDC, who)
}

// session returns the session of a request; nil if nobody is signed in, which is so only on routes with the role None.
func (c *Console) session(r *http.Request) *signin.Session {
	s, _ := r.Context().Value(sessionKey{}).(*signin.Session)
	return s
}

// authorize restricts a handler to sessions with a role, and its forms to those that a page of the session has.
func (c *Console) authorize(needed signin.Role, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		s := c.session(r)
		switch {
		case needed == signin.None:
			next(w, r)
		case s == nil:
			c.askToSignIn(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !c.fromForm(r, s):
			c.fail(w, r, http.StatusForbidden, "This form is out of date. Go back, load the page again, and repeat it.")
		case !s.Role.Includes(needed):
			c.fail(w, r, http.StatusForbidden, "This requires the role "+needed.String()+"; you are signed in with the role "+s.Role.String()+".")
		default:
			next(w, r)
		}
	})
}

// fromForm reports whether a request has the CSRF token of its session: as a field of a form, or in a header by htmx.
func (c *Console) fromForm(r *http.Request, s *signin.Session) bool {
	token := r.Header.Get("X-CSRF-Token")
	if token == "" {
		token = r.PostFormValue("csrf")
	}
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.CSRF)) == 1
}

// askToSignIn sends a browser to the page where it signs in. A request by htmx replaces the whole page.
func (c *Console) askToSignIn(w http.ResponseWriter, r *http.Request) {
	to := "/console/signin"
	if r.Method == http.MethodGet && r.URL.Path != "/console" {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
