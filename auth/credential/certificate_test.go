package credential

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{key: ecKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority " + rand.Text()}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate, a.pem = issue(t, template, template, &a.key.PublicKey, a.key)
	return a
}

func issue(t testing.TB, template, parent *x509.Certificate, public, signer any) (*x509.Certificate, []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// write issues a certificate and writes it and its key to files.
func (a *authority) write(t testing.TB, dir, name string, until time.Time) (certFile, keyFile string) {
	t.Helper()
	key := ecKey(t)
	_, text := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, a.certificate, &key.PublicKey, a.key)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	put(t, certFile, text)
	return certFile, writePEM(t, keyFile, key)
}

func put(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// peer is a service that asks for a client certificate and answers with its name.
func peer(t testing.TB, server, clients *authority) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		}
	}))
	cert, key := server.write(t, t.TempDir(), "service", time.Now().Add(time.Hour))
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(clients.certificate)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// ask sends a request over a connection of its own.
func ask(t testing.TB, c *ClientCertificate, target string) (string, error) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		config, err := c.Config(&tls.Config{MinVersion: tls.VersionTLS12}, addr)
		if err != nil {
			return nil, err
		}
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
		return (&tls.Dialer{Config: config}).DialContext(ctx, network, addr)
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func mustURL(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A certificate is read again when its files have changed, one after the other;
// in between, and with anything that can't be used, the last good one is shown.
func TestClientCertificateReload(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	s := peer(t, servers, clients)
	dir, spare := t.TempDir(), t.TempDir()
	certFile, keyFile := clients.write(t, dir, "first", time.Now().Add(time.Hour))
	caFile := filepath.Join(dir, "ca.pem")
	put(t, caFile, servers.pem)
	c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, CAFile: caFile, Origin: mustURL(t, s.URL)})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(want, problem string) {
		t.Helper()
		got, err := ask(t, c, s.URL)
		if err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		text := ""
		if err := c.Problem(); err != nil {
			text = strings.ReplaceAll(err.Error(), dir, "…")
		}
		if diff := cmp.Diff(problem, text); diff != "" {
			t.Error(diff)
		}
	}
	read := func(path string) []byte {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	shows("first", "")
	otherCert, otherKey := clients.write(t, spare, "second", time.Now().Add(time.Hour))
	put(t, certFile, read(otherCert))
	shows("first", `credential: certificate file "…/cert.pem" does not hold the certificate of key file "…/key.pem"`)
	put(t, keyFile, read(otherKey))
	shows("second", "")
	os.Remove(keyFile)
	shows("second", `credential: open …/key.pem: no such file or directory`)
	put(t, keyFile, read(otherKey))
	shows("second", "")
	put(t, keyFile, nil)
	shows("second", `credential: key file "…/key.pem" holds no private key in PEM form`)
	clients.write(t, dir, "ended", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	shows("second", `credential: certificate file "…/cert.pem": the certificate ended at 2020-01-01T00:00:00Z`)
	clients.write(t, dir, "third", time.Now().Add(time.Hour))
	shows("third", "")
	if until := time.Until(c.Expiry()); until < 50*time.Minute || until > time.Hour {
		t.Error(until)
	}

	put(t, caFile, []byte("nonsense"))
	shows("third", `credential: file "…/ca.pem" holds no PEM certificate`)
	put(t, caFile, newAuthority(t).pem)
	if _, err := ask(t, c, s.URL); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("an authority that was replaced is still trusted: %v", err)
	}
	put(t, caFile, append(newAuthority(t).pem, servers.pem...))
	shows("third", "")
}

// TestEndedClientCertificate: a certificate that has ended stops neither a start nor a reload, since only its own service refuses it, and the next is used.
func TestEndedClientCertificate(t *testing.T) {
	clients := newAuthority(t)
	dir := t.TempDir()
	ended := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	certFile, keyFile := clients.write(t, dir, "ended", ended)
	c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, Origin: mustURL(t, "https://orders.example.com")})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Expiry(); !got.Equal(ended) {
		t.Errorf("it ends at %s", got)
	}
	later := ended.Add(time.Hour)
	clients.write(t, dir, "ended, too", later)
	if got := c.Expiry(); !got.Equal(later) {
		t.Errorf("it ends at %s after another that has ended", got)
	}
	good := time.Now().Add(time.Hour)
	clients.write(t, dir, "good", good)
	if got := c.Expiry(); got.Sub(good).Abs() > time.Second {
		t.Errorf("it ends at %s after a good one", got)
	}
}

// The certificate is shown to its own service only (E4), and its private
// authorities vouch for no other.
func TestClientCertificateOrigin(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	own, other := peer(t, servers, clients), peer(t, servers, clients)
	dir := t.TempDir()
	certFile, keyFile := clients.write(t, dir, "gateway", time.Now().Add(time.Hour))
	caFile := filepath.Join(dir, "ca.pem")
	put(t, caFile, servers.pem)
	c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, CAFile: caFile, Origin: mustURL(t, own.URL)})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ask(t, c, own.URL); got != "gateway" || err != nil {
		t.Error(got, err)
	}
	if got, err := ask(t, c, other.URL); err == nil {
		t.Errorf("the other got %q", got)
	}
	pool := x509.NewCertPool()
	pool.AddCert(servers.certificate)
	base := &tls.Config{RootCAs: pool}
	_, port, _ := strings.Cut(strings.TrimPrefix(own.URL, "https://"), ":")
	for _, addr := range []string{strings.TrimPrefix(other.URL, "https://"), "127.0.0.2:" + port, "127.0.0.1", ":" + port, ""} {
		if config, err := c.Config(base, addr); err != nil || config != base {
			t.Error(addr, config, err)
		}
	}
}

// Authorities that are given take the place of those of the connection, those
// of a file the place of both.
func TestClientCertificateAuthorities(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	s := peer(t, servers, clients)
	dir := t.TempDir()
	certFile, keyFile := clients.write(t, dir, "gateway", time.Now().Add(time.Hour))
	pool, other := x509.NewCertPool(), filepath.Join(dir, "other.pem")
	pool.AddCert(servers.certificate)
	put(t, other, newAuthority(t).pem)
	for caFile, good := range map[string]bool{"": true, other: false} {
		c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, CAFile: caFile, RootCAs: pool, Origin: mustURL(t, s.URL)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ask(t, c, s.URL); (err == nil && got == "gateway") != good {
			t.Errorf("%q: %q, %v", caFile, got, err)
		}
	}
}

// What can't work is found at once, and nothing takes its place (Z8).
func TestClientCertificateErrors(t *testing.T) {
	dir := t.TempDir()
	a := newAuthority(t)
	certFile, keyFile := a.write(t, dir, "gateway", time.Now().Add(time.Hour))
	nonsense := filepath.Join(dir, "nonsense.pem")
	put(t, nonsense, []byte("-----BEGIN PRIVATE KEY-----\nczNjcmV0\n-----END PRIVATE KEY-----\n"))
	large := filepath.Join(dir, "large.pem")
	put(t, large, make([]byte, maxFile+1))
	full := filepath.Join(dir, "full.pem")
	put(t, full, make([]byte, maxFile))
	at := mustURL(t, "https://orders.example.com")
	for name, c := range map[string]struct {
		o    CertificateOptions
		want string
	}{
		"nothing":      {CertificateOptions{}, "credential: origin must be an absolute http or https URL\ncredential: neither a client certificate nor authorities are given"},
		"clear text":   {CertificateOptions{CertFile: certFile, KeyFile: keyFile, Origin: mustURL(t, "http://a.example")}, "credential: a client certificate needs an https origin"},
		"half":         {CertificateOptions{CertFile: certFile, Origin: at}, "credential: a client certificate needs both a certificate file and a key file"},
		"no files":     {CertificateOptions{CertFile: dir + "/a", KeyFile: keyFile, CAFile: dir + "/b", Origin: at}, "credential: open …/a: no such file or directory\ncredential: open …/b: no such file or directory"},
		"wrong way":    {CertificateOptions{CertFile: keyFile, KeyFile: certFile, Origin: at}, `credential: key file "…/cert.pem" holds no private key in PEM form`},
		"key":          {CertificateOptions{CertFile: certFile, KeyFile: nonsense, Origin: at}, `credential: key file "…/nonsense.pem" holds a private key that can't be read`},
		"large":        {CertificateOptions{CertFile: large, KeyFile: keyFile, Origin: at}, `credential: "…/large.pem" has more than 1048576 bytes`},
		"full":         {CertificateOptions{CAFile: full, Origin: at}, `credential: file "…/full.pem" holds no PEM certificate`},
		"no authority": {CertificateOptions{CAFile: keyFile, Origin: at}, `credential: file "…/key.pem" holds no PEM certificate`},
	} {
		_, err := NewClientCertificate(c.o)
		if diff := cmp.Diff(c.want, strings.ReplaceAll(fmt.Sprint(err), dir, "…")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
