package gatewaytest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Certificates issues certificates for clients.
type Certificates struct {
	T   *testing.T
	Ca  *x509.Certificate
	Key *ecdsa.PrivateKey
}

// NewCertificates makes an authority and the certificates that it signs.
func NewCertificates(t *testing.T) *Certificates {
	t.Helper()
	c := &Certificates{T: t}
	c.Key, _ = NewKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	c.Ca, _ = c.sign(template, template, c.Key)
	return c
}

func (c *Certificates) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, string) {
	c.T.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, c.Key)
	if err != nil {
		c.T.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		c.T.Fatal(err)
	}
	return cert, pemOf("CERTIFICATE", der)
}

// Issue returns a file with a certificate of that name and its key.
func (c *Certificates) Issue(name string) string {
	key, keyFile := NewKey(c.T)
	_, cert := c.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}, c.Ca, key)
	return cert + keyFile
}

// Server starts a server that wants certificates of the authority and notes who came.
func (c *Certificates) Server(h func(w http.ResponseWriter, r *http.Request, name string)) *httptest.Server {
	pool := x509.NewCertPool()
	pool.AddCert(c.Ca)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		h(w, r, name)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of connections that are closed
	s.StartTLS()
	c.T.Cleanup(s.Close)
	return s
}
