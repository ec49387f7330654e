package upstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// signed makes a certificate of a key of its own; a nil parent signs itself.
func signed(t *testing.T, c *x509.Certificate, parent *tls.Certificate) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.BasicConstraintsValid = big.NewInt(time.Now().UnixNano()), true
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	by, with := c, any(key)
	if parent != nil {
		by, with = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// TestBadCertificates is E6: each way in which a certificate can be wrong, of an
// authority that is trusted. Nothing is sent, and the model is told whom to tell.
func TestBadCertificates(t *testing.T) {
	ca := signed(t, &x509.Certificate{Subject: pkix.Name{CommonName: "CA"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	other := signed(t, &x509.Certificate{Subject: pkix.Name{CommonName: "CA"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	leaf := func(change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		change(c)
		return c
	}
	noAuthority := signed(t, leaf(func(*x509.Certificate) {}), ca)
	chained := signed(t, leaf(func(*x509.Certificate) {}), noAuthority)
	chained.Certificate = append(chained.Certificate, noAuthority.Certificate[0])
	for _, c := range []struct {
		name        string
		certificate *tls.Certificate
		want        string
	}{
		{"good", signed(t, leaf(func(*x509.Certificate) {}), ca), "200"},
		{"expired", signed(t, leaf(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}), ca), "tls"},
		{"not valid yet", signed(t, leaf(func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		}), ca), "tls"},
		{"another address", signed(t, leaf(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 2)} }), ca), "tls"},
		{"the name in the subject alone", signed(t, leaf(func(c *x509.Certificate) { c.IPAddresses = nil }), ca), "tls"},
		{"for clients", signed(t, leaf(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), ca), "tls"},
		{"signed by itself", signed(t, leaf(func(*x509.Certificate) {}), nil), "tls"},
		{"an authority of the same name", signed(t, leaf(func(*x509.Certificate) {}), other), "tls"},
		{"signed by what is no authority", chained, "tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
			server.Config.ErrorLog = discard()
			server.TLS = &tls.Config{Certificates: []tls.Certificate{*c.certificate}, MinVersion: tls.VersionTLS12}
			server.StartTLS()
			defer server.Close()
			pool := x509.NewCertPool()
			pool.AddCert(ca.Leaf)
			client := newClient(Options{Name: "orders", BaseURL: parse(t, server.URL), RootCAs: pool})
			defer client.Close()
			got := outcome(client, get(t, parse(t, server.URL)))
			if !strings.HasPrefix(got, c.want) || requests.Load() != 0 && c.want == "tls" {
				t.Errorf("%d requests, %s", requests.Load(), got)
			}
		})
	}
}
