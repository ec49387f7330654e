package authtest

import (
	"net/http"
)

// Endpoint names a part of the server whose requests are counted and can be made to fail.
type Endpoint string

// Endpoints.
const (
	Metadata      Endpoint = "metadata" // all three discovery documents
	KeySet        Endpoint = "jwks"
	Authorization Endpoint = "authorize" // with the consent page
	TokenEndpoint Endpoint = "token"
	Registration  Endpoint = "register"
	Introspection Endpoint = "introspect"
	Revocation    Endpoint = "revoke"
)

// Failure is a simulated failure of an endpoint.
type Failure struct {
	// Status and Body are the response, as JSON. Status is 503 if 0.
	Status int
	Body   string
	// Header is added to the response.
	Header http.Header
	// Hang makes the endpoint block without a response until the client has disconnected.
	Hang bool
	// Times is the number of failures before the endpoint works again; 0 means until Fail is called
	// with nil.
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

// Requests returns the number of requests to an endpoint, failures included.
func (s *Server) Requests(e Endpoint) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[e]
}

// count counts a request, and returns the failure to simulate, if any.
func (s *Server) count(e Endpoint) *Failure {
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
		panic(http.ErrAbortHandler) // no response at all
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
