package endpoint

import (
	"net/http"

	"drawbridge/config"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// screening admits requests for the hosts and origins of one configuration, before their target is known. It is immutable.
type screening struct {
	wrap       func(http.Handler) http.Handler // returns a handler of admitted requests
	dispatcher *dispatcher                     // of requests to endpoints
	config     *config.Config
	urls       publicURLs
}

// NewTable returns a table with the screening of a configuration and no endpoints. The error reports all hosts and origins that
// can't be used.
func (s *Server) NewTable(c *config.Config) (*Table, error) {
	screening, err := s.newScreening(c)
	if err != nil {
		return nil, err
	}
	return &Table{Screening: screening}, nil
}

// newScreening returns the screening of a configuration. The error reports all hosts and origins that can't be used.
func (s *Server) newScreening(c *config.Config) (*screening, error) {
	wrap, err := mcp.Origins(mcp.OriginOptions{Hosts: c.Hosts(), Origins: c.Origins(), Loopback: c.Server.Listen.Loopback(), OnRefused: s.refuseForeign})
	if err != nil {
		return nil, err
	}
	return &screening{wrap: wrap, dispatcher: &dispatcher{onPanic: s.Panicked, next: wrap(http.HandlerFunc(s.serve))}, config: c, urls: newPublicURLs(c)}, nil
}

// screen wraps a handler that is no endpoint in the current screening.
func (s *Server) screen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Current().Screening.wrap(next).ServeHTTP(w, r) })
}

// refuseForeign writes the audit record of a request with a foreign Host or Origin, and the request ID in the response
// header.
func (s *Server) refuseForeign(r *http.Request, origin bool) {
	setRequestIDHeader(r.Context())
	o := telemetry.OutcomeForeignHost
	if origin {
		o = telemetry.OutcomeForeignOrigin
	}
	s.Denials.Record(r.Context(), r, o, http.StatusForbidden, audit.Line{})
}

// RefuseToken counts a request without a valid token, and writes its audit record and the request ID in the response header.
func (s *Server) RefuseToken(r *http.Request, reason string, status int) {
	setRequestIDHeader(r.Context())
	label := telemetry.ReasonLabel(reason)
	s.Denials.Metrics.TokenRefused(label)
	s.Denials.Record(r.Context(), r, telemetry.OutcomeUnauthenticated, status, audit.Line{Reason: label})
}
