package authtest

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"drawbridge/openapi/origin"
)

// running holds the resources of [Start].
type running struct {
	server *http.Server
	ended  chan error
}

// Start opens a loopback listener and serves there until [Server.Close].
func Start(o Options) (*Server, error) {
	address := cmp.Or(o.Address, "127.0.0.1:0")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("authtest: address %q: %w", address, err)
	}
	if !origin.Loopback(host) {
		return nil, fmt.Errorf("authtest: address %q is not loopback: this server is for development on one machine", address)
	}
	l, err := net.Listen("tcp", address) //nolint:noctx // listening on loopback does not block
	if err != nil {
		return nil, fmt.Errorf("authtest: %w", err)
	}
	if o.Issuer == "" {
		o.Issuer = "http://" + l.Addr().String()
	}
	s, err := NewServer(o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.running = &running{server: s.httpServer(), ended: make(chan error, 1)}
	if err := checkListener(l); err != nil { // localhost may have resolved to something else
		return nil, errors.Join(err, l.Close())
	}
	go func() { s.running.ended <- s.running.server.Serve(l) }()
	return s, nil
}

// Close closes the listener and all connections of a server started with [Start], and waits. It is
// called once.
func (s *Server) Close() error {
	if s.running == nil {
		return nil
	}
	err := s.running.server.Close()
	if ended := <-s.running.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// Serve serves on a loopback listener until that is closed; it always returns an error, as
// [http.Server.Serve] does. It closes any other listener and returns an error.
func (s *Server) Serve(l net.Listener) error {
	if err := checkListener(l); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.httpServer().Serve(l)
}

func checkListener(l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("authtest: address %q is not loopback: this server is for development on one machine", l.Addr())
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
