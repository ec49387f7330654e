package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// authority makes a certificate authority, and a pool of it alone.
func authority(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	ca := signed(t, &x509.Certificate{Subject: pkix.Name{CommonName: "CA"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	roots := x509.NewCertPool()
	roots.AddCert(ca.Leaf)
	return ca, roots
}

// secureService serves with a certificate for a name, or for 127.0.0.1 if that is "". seen is the name that the last client sent (SNI).
func secureService(t *testing.T, ca *tls.Certificate, name string, most uint16) (u *url.URL, seen *atomic.Value) {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "service"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if c.DNSNames = []string{name}; name == "" {
		c.DNSNames, c.IPAddresses = nil, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	own := signed(t, c, ca)
	seen = &atomic.Value{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*own}, MaxVersion: most, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		seen.Store(hello.ServerName)
		return nil, nil //nolint:nilnil // the configuration of the server
	}}
	server.Config.ErrorLog = discard()
	server.StartTLS()
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, seen
}

// get returns the status of a request, or the error.
func getStatus(t *testing.T, c *Client, u *url.URL) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	return resp.Status
}

// TestServerName: the name of a service is that of its host and port, and of its instances, alone.
func TestServerName(t *testing.T) {
	ca, roots := authority(t)
	service, seen := secureService(t, ca, "orders.example", 0)
	other, _ := secureService(t, ca, "orders.example", 0)
	own, _ := secureService(t, ca, "", 0)
	c := NewClient(Options{NamedHosts: []string{"127.0.0.1"}, RootCAs: roots, ServerName: "orders.example", Service: service})
	defer c.Close()
	if got := getStatus(t, c, service); got != "200 OK" || seen.Load() != "orders.example" {
		t.Errorf("%s, for the name %q", got, seen.Load())
	}
	if got := getStatus(t, c, own); got != "200 OK" {
		t.Errorf("another server: %s", got)
	}
	if got := getStatus(t, c, other); !strings.Contains(got, "tls.server_name") {
		t.Errorf("another server with that name: %s", got)
	}
	base := &url.URL{Scheme: "https", Host: "orders"}
	found := NewClient(Options{BaseURL: base, Service: base, RootCAs: roots, ServerName: "orders.example", Instances: func() []string { return []string{service.Host} }})
	defer found.Close()
	if got := getStatus(t, found, base); !strings.HasPrefix(got, "200") && !strings.Contains(got, "not public") {
		t.Errorf("an instance: %s", got)
	}
	allowed := NewClient(Options{BaseURL: base, Service: base, RootCAs: roots, ServerName: "orders.example", Instances: func() []string { return []string{service.Host} },
		AllowedAddresses: prefixes("127.0.0.0/8")})
	defer allowed.Close()
	if got := getStatus(t, allowed, base); got != "200 OK" {
		t.Errorf("an instance: %s", got)
	}
}

// TestTLSAdvice: the error of a handshake names the key that can change it.
func TestTLSAdvice(t *testing.T) {
	ca, roots := authority(t)
	_, others := authority(t)
	service, _ := secureService(t, ca, "", 0)
	old, _ := secureService(t, ca, "", tls.VersionTLS12)
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	cleartext := &url.URL{Scheme: "https", Host: strings.TrimPrefix(plain.URL, "http://")}
	for _, tt := range []struct {
		name  string
		at    *url.URL
		roots *x509.CertPool
		least uint16
		want  string
	}{
		{"an unknown authority", service, nil, 0, "set ca_file to a file with its certificate"},
		{"another authority", service, others, 0, "ca_file does not contain the certificate of its authority"},
		{"no TLS", cleartext, roots, 0, "the server may speak http, not https"},
		{"an old version", old, roots, tls.VersionTLS13, "tls.min_version requires TLS 1.3"},
		{"an old version that will do", old, roots, tls.VersionTLS12, "200 OK"},
		{"no lower version", old, roots, tls.VersionTLS10, "200 OK"},
	} {
		c := NewClient(Options{NamedHosts: []string{"127.0.0.1"}, RootCAs: tt.roots, MinTLS: tt.least})
		if got := getStatus(t, c, tt.at); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
		c.Close()
	}
}

// TestCheckHost: what is known of a host without resolving it.
func TestCheckHost(t *testing.T) {
	for _, tt := range []struct {
		options Options
		url     string
		want    string
	}{
		{Options{}, "https://api.example", ""},
		{Options{}, "https://93.184.216.34/v1", ""},
		{Options{}, "http://10.0.0.1", "http://10.0.0.1 can't be called: address 10.0.0.1 is not public; allow_addresses can permit it"},
		{Options{}, "http://[::ffff:10.0.0.1]:80", "http://[::ffff:10.0.0.1] can't be called: address 10.0.0.1 is not public; allow_addresses can permit it"},
		{Options{DocumentHosts: []string{"10.0.0.1"}}, "http://10.0.0.1", ""},
		{Options{DocumentHosts: []string{"100.100.100.200"}}, "http://100.100.100.200", "http://100.100.100.200 can't be called: address 100.100.100.200 is not allowed for this host"},
		{Options{NamedHosts: []string{"100.100.100.200"}}, "http://100.100.100.200", ""},
		{Options{AllowedAddresses: prefixes("10.0.0.0/8")}, "http://10.0.0.1", ""},
		{Options{DocumentHosts: []string{"metadata.google.internal"}}, "http://Metadata.Google.internal.", `http://metadata.google.internal. can't be called: host "metadata.google.internal" serves a cloud's metadata and was not named`},
		{Options{Socket: "/run/service.sock"}, "http://10.0.0.1", ""},
		{Options{BaseURL: &url.URL{Scheme: "http", Host: "orders"}, Instances: func() []string { return nil }}, "http://orders", ""},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		c := NewClient(tt.options)
		got := ""
		if err := c.CheckHost(u); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.url, got, tt.want)
		}
		c.Close()
	}
}
