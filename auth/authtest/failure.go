package authtest

import (
	"net/http"
)

// Endpoint names a part of the server that can be watched and made to fail.
type Endpoint string

// The endpoints.
const (
	Metadata      Endpoint = "metadata" // all three discovery documents
	KeySet        Endpoint = "jwks"
	Authorization Endpoint = "authorize" // and the consent page
	TokenEndpoint Endpoint = "token"
	Registration  Endpoint = "register"
	Introspection Endpoint = "introspect"
	Revocation    Endpoint = "revoke"
)

// Failure is what an endpoint does instead of its work.
type Failure struct {
	// Status and Body are the answer, as JSON. Status 0: 503.
	Status int
	Body   string
	// Header is added to the answer.
	Header http.Header
	// Hang makes the endpoint wait until the client has gone, and not answer.
	Hang bool
	// Times is how often it fails before it works again. 0: until told otherwise.
	Times int
}

// Fail makes an endpoint fail from the next request on; nil makes it work again.
func (s *Server) Fail(e Endpoint, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == nil {
		delete(s.failures, e)
		return
	}
	copied := *f
	s.failures[e] = &copied
}

// Requests returns how many requests an endpoint has had, failures included.
func (s *Server) Requests(e Endpoint) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[e]
}

// arrive counts a request, and returns the failure that awaits it, if any.
func (s *Server) arrive(e Endpoint) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[e]++
	f := s.failures[e]
	if f == nil {
		return nil
	}
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			delete(s.failures, e)
		}
	}
	return f
}

func (f *Failure) write(w http.ResponseWriter, r *http.Request) {
	if f.Hang {
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // no answer at all
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	for name, values := range f.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	status := f.Status
	if status == 0 {
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
	w.Write([]byte(f.Body))
}
