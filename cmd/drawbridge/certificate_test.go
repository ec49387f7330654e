package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

// newPair makes a certificate for the loopback address, and its key. Its serial number tells it from others.
func newPair(t *testing.T, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Unix(4e9+serial, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

// secured returns the files of a gateway with a certificate of its own.
func (s *things) secured(t *testing.T, serial int64) map[string]string {
	files := s.configuration("shutdown_delay: 0s, tls: {cert_file: tls.pem, key_file: tls.key}")
	files["tls.pem"], files["tls.key"] = newPair(t, serial)
	return files
}

// trusting returns a client that trusts certificates.
func trusting(t *testing.T, certs ...string) *http.Transport {
	t.Helper()
	roots := x509.NewCertPool()
	for _, c := range certs {
		roots.AppendCertsFromPEM([]byte(c))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// greet makes a new connection and asks something: only with the answer the ticket comes, and with TLS 1.3 a client learns only then that its certificate was refused.
func greet(address string, c *tls.Config) (tls.ConnectionState, error) {
	c = c.Clone()
	c.NextProtos = nil // what a client of HTTP/2 has put there
	conn, err := tls.Dial("tcp", address, c)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /none HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		return tls.ConnectionState{}, err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 404 ") {
		err = fmt.Errorf("the answer is %q", answer)
	}
	return conn.ConnectionState(), err
}

// serialOf makes a new connection and returns the serial number of the certificate that it meets.
func serialOf(t *testing.T, s *served, c *tls.Config) (serial string, resumed bool) {
	t.Helper()
	state, err := greet(s.address(), c)
	if err != nil {
		t.Fatal(err)
	}
	return state.PeerCertificates[0].SerialNumber.String(), state.DidResume
}

// address is that of the listener for clients.
func (s *served) address() string {
	_, rest, _ := strings.Cut(s.mcp, "://")
	return strings.TrimSuffix(rest, "/mcp")
}

// TestOwnCertificate serves HTTPS, by HTTP/1.1 and HTTP/2, and nothing older or in clear.
func TestOwnCertificate(t *testing.T) {
	service := newThings(t)
	files := service.secured(t, 1)
	s := serve(t, files)
	if !strings.HasPrefix(s.mcp, "https://127.0.0.1:") {
		t.Errorf("the log says %q", s.mcp)
	}
	s.awaitReady()
	roots := trusting(t, files["tls.pem"]).TLSClientConfig.RootCAs
	for _, tt := range []struct {
		name    string
		config  *tls.Config
		version uint16
		proto   string
		fault   string
	}{
		{"HTTP/2", &tls.Config{NextProtos: []string{"h2", "http/1.1"}}, tls.VersionTLS13, "h2", ""},
		{"HTTP/1.1", &tls.Config{NextProtos: []string{"http/1.1"}}, tls.VersionTLS13, "http/1.1", ""},
		{"no ALPN", &tls.Config{}, tls.VersionTLS13, "", ""},
		{"TLS 1.2", &tls.Config{MaxVersion: tls.VersionTLS12}, tls.VersionTLS12, "", ""},
		{"TLS 1.1", &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, 0, "", "remote error: tls: protocol version not supported"},
		{"unknown protocol", &tls.Config{NextProtos: []string{"smtp"}}, 0, "", "remote error: tls: no application protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.RootCAs = roots
			conn, err := tls.Dial("tcp", s.address(), tt.config)
			if err != nil {
				if err.Error() != tt.fault {
					t.Errorf("handshake: %v, want %q", err, tt.fault)
				}
				return
			}
			defer conn.Close()
			if state := conn.ConnectionState(); tt.fault != "" || state.Version != tt.version || state.NegotiatedProtocol != tt.proto {
				t.Errorf("version %x, protocol %q; want %x, %q, %s", state.Version, state.NegotiatedProtocol, tt.version, tt.proto, tt.fault)
			}
		})
	}
	for _, http2 := range []bool{true, false} {
		transport := trusting(t, files["tls.pem"])
		transport.ForceAttemptHTTP2 = http2
		if fault, err := getThing(t.Context(), transport, s.mcp, fmt.Sprint("a", http2)); fault != "" || err != nil {
			t.Errorf("HTTP/2 %v: %s %v", http2, fault, err)
		}
	}

	// Who forgot the s is told so.
	conn, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", s.address())
	answer, err := io.ReadAll(conn)
	if want := "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"; err != nil || string(answer) != want {
		t.Errorf("HTTP in clear: %q %v, want %q", answer, err, want)
	}
	if status, text := s.get("/metrics"); status != 200 || !strings.Contains(text, "\ndrawbridge_tls_certificate_expiry_timestamp_seconds 4.000000001e+09\n") {
		t.Errorf("/metrics = %d without the expiry of the certificate:\n%s", status, text)
	}
}

// TestCertificateReload replaces the pair under a call that runs: it ends well on the connection that it has, and new
// connections meet the new certificate, also those that come back with a session ticket. A pair of which one half is
// missing changes nothing.
func TestCertificateReload(t *testing.T) {
	service := newThings(t)
	files := service.secured(t, 1)
	s := serve(t, files)
	s.awaitReady()
	newCert, newKey := newPair(t, 2)
	client := trusting(t, files["tls.pem"], newCert)
	held := make(chan string, 1)
	go func() {
		fault, err := getThing(context.Background(), client, s.mcp, "held")
		held <- fmt.Sprint(fault, err)
	}()
	timebox.Wait(t, service.arrived)
	returning := &tls.Config{RootCAs: client.TLSClientConfig.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	serialOf(t, s, returning)
	if serial, resumed := serialOf(t, s, returning); serial != "1" || !resumed {
		t.Errorf("before: certificate %s, resumed %v", serial, resumed)
	}

	s.write(map[string]string{"tls.pem": newCert})
	line := s.await("certificate can't be used; the last good one stays in use", 1)
	if want := fmt.Sprintf("server.tls.key_file: %q is not the key of the certificate in %q", s.dir+"/tls.key", s.dir+"/tls.pem"); line["error"] != want {
		t.Errorf("log record %v, want the error %q", line, want)
	}
	if serial, _ := serialOf(t, s, client.TLSClientConfig); serial != "1" {
		t.Errorf("half a pair: certificate %s", serial)
	}
	s.write(map[string]string{"tls.key": newKey})
	line = s.await("certificate in use", 1)
	if line["serial"] != "2" {
		t.Errorf("log record %v", line)
	}
	if serial, _ := serialOf(t, s, client.TLSClientConfig); serial != "2" {
		t.Errorf("after: certificate %s", serial)
	}
	if serial, resumed := serialOf(t, s, returning); serial != "2" || resumed {
		t.Errorf("one who came back: certificate %s, resumed %v", serial, resumed)
	}
	if fault, err := getThing(t.Context(), client, s.mcp, "old-connection"); fault != "" || err != nil {
		t.Errorf("on the old connection: %s %v", fault, err)
	}
	close(service.release)
	if result := timebox.Receive(t, held); result != "<nil>" {
		t.Errorf("the call that was running: %s", result)
	}
	if _, text := s.get("/metrics"); !strings.Contains(text, "\ndrawbridge_tls_certificate_expiry_timestamp_seconds 4.000000002e+09\n") ||
		!strings.Contains(text, "\ndrawbridge_tls_certificate_reloads_total{outcome=\"ok\"} 1\n") {
		t.Errorf("/metrics:\n%s", text)
	}
}

// TestCertificateHangUp reads the certificate when it is told to, even if the rest of the configuration is bad then.
func TestCertificateHangUp(t *testing.T) {
	service := newThings(t)
	files := service.secured(t, 1)
	s := serve(t, files)
	s.awaitReady()
	cert, key := newPair(t, 7)
	s.write(map[string]string{"tls.pem": cert, "tls.key": key, "drawbridge.yaml": "apis: 1\n"})
	s.signals <- syscall.SIGHUP
	s.await("configuration rejected; the last good one stays in use", 1)
	s.await("certificate in use", 1)
	if serial, _ := serialOf(t, s, trusting(t, cert).TLSClientConfig); serial != "7" {
		t.Errorf("certificate %s", serial)
	}
}

// TestHTTP2InClear serves a proxy that begins with HTTP/2 at once, and does not let anybody change over to it: what a
// proxy took for one request could be two.
func TestHTTP2InClear(t *testing.T) {
	service := newThings(t)
	s := serve(t, service.configuration("shutdown_delay: 0s"))
	s.awaitReady()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	if fault, err := getThing(t.Context(), transport, s.mcp, "a"); fault != "" || err != nil {
		t.Errorf("prior knowledge: %s %v", fault, err)
	}
	conn, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /none HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", s.address())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound || resp.Proto != "HTTP/1.1" {
		t.Errorf("upgrade: %s %s, want HTTP/1.1 404", resp.Proto, resp.Status)
	}
}

// TestExposure warns of tokens in clear: when others can reach the listener, and nothing says that somebody ends TLS.
func TestExposure(t *testing.T) {
	issuers := &config.Auth{Issuers: make([]config.Issuer, 1)}
	for _, tt := range []struct {
		name string
		c    config.Config
		want string
	}{
		{"loopback", config.Config{Server: config.Server{Listen: "127.0.0.1:1"}, Auth: issuers}, ""},
		{"in clear", config.Config{Server: config.Server{Listen: ":1"}, Auth: issuers},
			`level=WARN msg="tokens are sent in the clear unless a proxy in front terminates TLS: set server.tls, or list the proxy in server.trusted_proxies" listen=:1` + "\n"},
		{"own certificate", config.Config{Server: config.Server{Listen: ":1", TLS: &config.TLS{}}, Auth: issuers}, ""},
		{"proxy", config.Config{Server: config.Server{Listen: ":1", TrustedProxies: make([]config.Network, 1)}, Auth: issuers}, ""},
		{"anonymous", config.Config{Server: config.Server{Listen: ":1"}, Auth: &config.Auth{Anonymous: true}},
			`level=WARN msg="auth.anonymous is on: anyone who can reach this address may call every tool" listen=:1` + "\n"},
	} {
		var text strings.Builder
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		warnAboutExposure(log, &tt.c)
		if text.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, text.String(), tt.want)
		}
	}
}
