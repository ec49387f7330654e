package credential

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"drawbridge/gateway/origin"
)

// CertificateOptions say how the gateway and a service prove to each other who they are.
type CertificateOptions struct {
	// CertFile and KeyFile are PEM files with the gateway's certificate, those of
	// its issuers behind it, and the private key; they may be one file. Empty,
	// both: the gateway shows none.
	CertFile, KeyFile string
	// CAFile is a PEM file with the authorities that the service's certificate
	// may come from, instead of the system's. Empty: RootCAs.
	CAFile string
	// RootCAs are the authorities where there is no CAFile. Nil: the system's.
	RootCAs *x509.CertPool
	// Origin is the service: nobody else gets to see the certificate (E4), and
	// CAFile is good for nobody else.
	Origin *url.URL
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// ClientCertificate is the gateway's certificate for one service, and the
// authorities that the service is trusted by. Files that have changed are read
// again for the next connection; connections that are open go on. What can't be
// used, a half-written file or a key of another certificate, leaves the last
// good one in place. It is safe for concurrent use.
type ClientCertificate struct {
	address     string                     // host:port that the certificate is for
	certificate *watched[*tls.Certificate] // nil: none is shown
	authorities *watched[*x509.CertPool]   // nil: roots
	roots       *x509.CertPool
	now         func() time.Time
}

// NewClientCertificate reads the files, and reports all problems. A file that
// can't be used is never passed over: there is no connection without the
// certificate, and none by the authorities of the system instead (Z8).
func NewClientCertificate(o CertificateOptions) (*ClientCertificate, error) {
	c := &ClientCertificate{roots: o.RootCAs, now: clock(o.Now)}
	var problems []error
	at, err := parseOrigin(o.Origin)
	switch {
	case err != nil:
		problems = append(problems, err)
	case o.Origin.Scheme != "https":
		problems = append(problems, errors.New("credential: a client certificate needs an https origin"))
	}
	c.address = at.Address()
	switch {
	case o.CertFile != "" && o.KeyFile != "":
		c.certificate = &watched[*tls.Certificate]{
			paths: []string{o.CertFile, o.KeyFile}, now: c.now,
			parse: func(contents [][]byte) (*tls.Certificate, error) { return c.parsePair(o, contents) },
		}
		if _, err := c.certificate.get(); err != nil {
			problems = append(problems, err)
		}
	case o.CertFile != "" || o.KeyFile != "":
		problems = append(problems, errors.New("credential: a client certificate needs both a certificate file and a key file"))
	case o.CAFile == "":
		problems = append(problems, errors.New("credential: neither a client certificate nor authorities are given"))
	}
	if o.CAFile != "" {
		c.authorities = &watched[*x509.CertPool]{paths: []string{o.CAFile}, now: c.now, parse: func(contents [][]byte) (*x509.CertPool, error) {
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(contents[0]) {
				return nil, fmt.Errorf("credential: file %q holds no PEM certificate", o.CAFile)
			}
			if begun := bytes.Count(contents[0], []byte("-----BEGIN CERTIFICATE-----")); begun > whole(contents[0]) {
				return nil, fmt.Errorf("credential: file %q holds a certificate that is cut off or damaged", o.CAFile)
			}
			return pool, nil
		}}
		if _, err := c.authorities.get(); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, nil
}

// whole counts the certificates of a PEM file that can be read.
func whole(data []byte) (n int) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return n
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			n++
		}
	}
}

// parsePair makes a certificate of its files. No text of crypto/tls is in the
// error: it may be about what is secret.
func (c *ClientCertificate) parsePair(o CertificateOptions, contents [][]byte) (*tls.Certificate, error) {
	if _, _, err := parsePEM(contents[1]); err != nil {
		return nil, fmt.Errorf("credential: key file %q %w", o.KeyFile, err)
	}
	if begun := bytes.Count(contents[0], []byte("-----BEGIN CERTIFICATE-----")); begun > whole(contents[0]) {
		return nil, fmt.Errorf("credential: certificate file %q holds a certificate that is cut off or damaged", o.CertFile)
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("credential: certificate file %q does not hold the certificate of key file %q", o.CertFile, o.KeyFile)
	}
	if pair.Leaf == nil {
		return nil, fmt.Errorf("credential: certificate file %q can't be read", o.CertFile)
	}
	if now := c.now(); now.After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("credential: certificate file %q: the certificate ended at %s", o.CertFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return &pair, nil
}

// Problem says why the files as they are now can't be used, while the last good
// ones are; nil if nothing is wrong. It does not read them.
func (c *ClientCertificate) Problem() error {
	var problems []error
	if c.certificate != nil {
		problems = append(problems, c.certificate.problem())
	}
	if c.authorities != nil {
		problems = append(problems, c.authorities.problem())
	}
	return errors.Join(problems...)
}

// Exposed returns the key file if every user of the machine may read it (E8).
func (c *ClientCertificate) Exposed() []string {
	if c.certificate == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.certificate.exposed()), func(path string) bool { return path != c.certificate.paths[1] })
}

// Expiry returns when the certificate ends; zero if there is none.
func (c *ClientCertificate) Expiry() time.Time {
	if c.certificate == nil {
		return time.Time{}
	}
	pair, err := c.certificate.get()
	if err != nil {
		return time.Time{}
	}
	return pair.Leaf.NotAfter
}

// Config returns base with what is now in the files, for one connection to addr,
// host and port. For another service than that of the options it is base
// itself. base is not changed. Its place is [net/http.Transport.DialTLSContext],
// before the handshake: the authorities can't be exchanged within a
// [tls.Config], so there is one for each connection.
func (c *ClientCertificate) Config(base *tls.Config, addr string) (*tls.Config, error) {
	if origin.Lower(addr) != c.address {
		return base, nil
	}
	config := base.Clone()
	if c.roots != nil {
		config.RootCAs = c.roots
	}
	if c.authorities != nil {
		pool, err := c.authorities.get()
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	if c.certificate != nil {
		// Whatever authorities the service names: with one certificate there is nothing to choose.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.certificate.get() }
		config.Certificates = nil
	}
	return config, nil
}
