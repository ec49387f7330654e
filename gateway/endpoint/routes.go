package endpoint

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"drawbridge/gateway/filetool"
	"drawbridge/gateway/plan"
)

// RoutesOptions are the handlers beside the endpoints.
type RoutesOptions struct {
	Callback http.HandlerFunc // serves webhooks from services; the route has the parameter token
	Keys     http.HandlerFunc // serves the public keys of caller identities
	Metadata http.HandlerFunc // serves the protected resource metadata of RFC 9728
	Calls    CallMethods      // serve files
	// Registration serves clients that register and log in at the gateway. It has its own CORS rule, and its own check of forms.
	Registration http.HandlerFunc
	// Account serves the pages by which users connect accounts at services. It has its own check of forms.
	Account http.HandlerFunc
}

// registrationPaths are the paths of RoutesOptions.Registration.
var registrationPaths = []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/*", "/register", "/authorize", "/token", "/oauth/callback"}

// Routes returns the routes of the public listener, wrapped in its middleware.
func (s *Server) Routes(o RoutesOptions) http.Handler {
	r := chi.NewRouter()
	main := func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, "", s.transport(r)) }
	named := func(w http.ResponseWriter, r *http.Request) {
		name := chi.URLParam(r, "endpoint")
		if name == "" {
			http.NotFound(w, r)
			return
		}
		s.dispatch(w, r, name, s.transport(r))
	}
	// People write the trailing slash, and a redirect would make clients lose their POST: both paths are one resource.
	r.HandleFunc("/mcp", main)
	r.HandleFunc("/mcp/", main)
	r.HandleFunc("/mcp/{endpoint}", named)
	r.HandleFunc("/mcp/{endpoint}/", named)
	if s.HTTPSSE {
		s.httpSSERoutes(r)
	} else {
		s.signpostRoutes(r)
	}
	// Services call this route without a token: the URL that they were given is the credential (T20).
	r.With(s.screen).HandleFunc(plan.CallbackPath+"{token}", o.Callback)
	r.HandleFunc("/files/{id}", s.filesRoute(&fileReads{o.Calls.Tools, o.Calls.Own}))
	uploads := &fileUploads{o.Calls.Tools, o.Calls.Own, s.Admission.admitPlain}
	r.HandleFunc("/files", s.uploadRoute(uploads.post, false))
	r.HandleFunc(filetool.UploadPath+"{offer}", s.uploadRoute(uploads.putOffered, true))
	r.HandleFunc("/", s.serveLanding) // a page for browsers and a line for others, without a token (Z9)
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	r.HandleFunc(metadataPath, o.Metadata)
	r.HandleFunc(metadataPath+"/*", o.Metadata)
	r.HandleFunc("/.well-known/jwks.json", o.Keys)
	for _, path := range registrationPaths {
		r.HandleFunc(path, o.Registration)
	}
	r.HandleFunc("/account/*", o.Account)
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		r.With(s.screen).HandleFunc(path, serveManifest(s.Current))
	}
	return routed{r, s.middleware(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req = s.Current().Screening.urls.withoutPath(req)
		if req.URL.Path == "/mcp" && req.URL.RawPath == "" { // fast path: nearly all requests, without a copy for route parameters
			main(w, req)
			return
		}
		r.ServeHTTP(w, req)
	}))}
}

// uploadRoute serves a route to which files are sent; tokenless reports that its URLs need no token. There is none unless the gateway has it.
func (s *Server) uploadRoute(handler http.HandlerFunc, tokenless bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if e := s.Current().Main; e != nil && (e.Files == nil || tokenless && !e.uploadURLs) {
			http.NotFound(w, r)
			return
		}
		s.dispatchTo(w, r, "", streamable, handler, tokenless)
	}
}

// routed is a router behind middleware whose routes can still be walked.
type routed struct {
	chi.Router
	handler http.Handler
}

// ServeHTTP implements [http.Handler].
func (r routed) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.handler.ServeHTTP(w, req) }
