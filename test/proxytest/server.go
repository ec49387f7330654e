package proxytest

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is a proxy on loopback. Its exported fields are set before the first connection.
type Server struct {
	// Scheme is http, https or socks5.
	Scheme string
	// Address is host:port.
	Address string
	// User and Password are required of clients, if User is not empty.
	User, Password string
	// Answer returns what is sent in place of a tunnel, byte by byte, for HTTP; "" for a tunnel. It may be nil.
	Answer func(target string) string
	// Dial connects to a target; nil for a connection to the target itself.
	Dial func(ctx context.Context, network, target string) (net.Conn, error)

	listener net.Listener
	conns    sync.WaitGroup
	ended    context.Context
	mu       sync.Mutex
	open     []net.Conn
	targets  []string
	heads    []string
}

// New starts a proxy, which ends with the test. The certificate is that of an https proxy.
func New(t testing.TB, scheme string, certificate *tls.Certificate) *Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Scheme: scheme, Address: l.Addr().String(), listener: l}
	if scheme == "https" {
		s.listener = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate}})
	}
	var cancel context.CancelFunc
	s.ended, cancel = context.WithCancel(context.Background())
	s.conns.Add(1)
	go s.accept()
	t.Cleanup(func() {
		cancel()
		l.Close()
		s.mu.Lock()
		for _, c := range s.open {
			c.Close()
		}
		s.mu.Unlock()
		s.conns.Wait()
	})
	return s
}

// Targets returns what was asked for so far, each host:port.
func (s *Server) Targets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.targets)
}

// Heads returns the heads of the requests for tunnels over HTTP.
func (s *Server) Heads() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.heads, "\n")
}

func (s *Server) accept() {
	defer s.conns.Done()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		if !s.keep(conn) {
			conn.Close()
			return
		}
		s.conns.Add(1)
		go func() {
			defer s.conns.Done()
			defer conn.Close()
			if s.Scheme == "socks5" {
				s.socks(conn)
			} else {
				s.connect(conn)
			}
		}()
	}
}

// keep has a connection closed at the end; false after it.
func (s *Server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, conn)
	return s.ended.Err() == nil
}

func (s *Server) asked(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.targets = append(s.targets, target)
}

func (s *Server) dial(target string) (net.Conn, error) {
	if s.Dial != nil {
		return s.Dial(s.ended, "tcp", target)
	}
	return (&net.Dialer{}).DialContext(s.ended, "tcp", target)
}

// connect serves CONNECT.
func (s *Server) connect(conn net.Conn) {
	br := bufio.NewReader(conn)
	req, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	var head strings.Builder
	head.WriteString(req.Method + " " + req.RequestURI + "\n")
	_ = req.Header.Write(&head)
	s.mu.Lock()
	s.heads = append(s.heads, head.String())
	s.mu.Unlock()
	s.asked(req.RequestURI)
	answer := ""
	if s.Answer != nil {
		answer = s.Answer(req.RequestURI)
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.User+":"+s.Password))
	switch {
	case answer != "":
	case req.Method != http.MethodConnect:
		answer = "HTTP/1.1 405 Method Not Allowed\r\n\r\n"
	case s.User != "" && req.Header.Get("Proxy-Authorization") != want:
		answer = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\n\r\n"
	}
	if answer != "" {
		_, _ = io.WriteString(conn, answer)
		_, _ = io.Copy(io.Discard, br) // until the client ends it
		return
	}
	out, err := s.dial(req.RequestURI)
	if err != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	s.relay(conn, br, out)
}

func (s *Server) relay(conn net.Conn, from io.Reader, out net.Conn) {
	defer out.Close()
	if !s.keep(out) {
		return
	}
	s.conns.Add(1)
	go func() {
		defer s.conns.Done()
		defer conn.Close()
		_, _ = io.Copy(conn, out)
	}()
	_, _ = io.Copy(out, from)
}
