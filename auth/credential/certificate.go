package credential

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"drawbridge/openapi/origin"
)

// CertificateOptions configure mutual TLS with a service.
type CertificateOptions struct {
	// CertFile and KeyFile are PEM files with the gateway's certificate, followed by its issuers,
	// and the private key; they may be one file. If both are empty, no certificate is sent.
	CertFile, KeyFile string
	// CAFile is a PEM file with the certificate authorities for the service's certificate. If
	// empty, RootCAs are used.
	CAFile string
	// Open opens a file each time that it is read, without waiting for the writer of a pipe, so that it may keep links from leading
	// elsewhere. If nil, files are opened by their paths.
	Open func(path string) (*os.File, error)
	// RootCAs are the certificate authorities without a CAFile. If nil, the system's are used.
	RootCAs *x509.CertPool
	// Origin is the service: the certificate is presented to no other (E4), and CAFile applies to
	// no other.
	Origin *url.URL
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// ClientCertificate is the gateway's certificate for one service, and the authorities that the
// service's certificate is verified with. Changed files are read again for the next connection;
// open connections are not affected. Unusable content, such as a half-written file, a key of another
// certificate or one that has ended, leaves the last usable version in place. It is safe for concurrent use.
type ClientCertificate struct {
	address     string                      // host:port that the certificate is for
	certificate *reloader[*tls.Certificate] // nil if none is presented
	authorities *reloader[*x509.CertPool]   // nil if roots are used
	roots       *x509.CertPool
	now         func() time.Time
	end         time.Time // of the last usable certificate; parsePair keeps it
}

// NewClientCertificate reads the files, and reports all problems. An unusable file is never
// ignored: there is no connection without the certificate, and none with the system's authorities
// instead (Z8). A certificate that has ended is used: its service refuses it, and nothing else depends
// on it.
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
		c.certificate = &reloader[*tls.Certificate]{
			paths: []string{o.CertFile, o.KeyFile}, open: o.Open, now: c.now,
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
		c.authorities = &reloader[*x509.CertPool]{paths: []string{o.CAFile}, open: o.Open, now: c.now, parse: func(contents [][]byte) (*x509.CertPool, error) {
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(contents[0]) {
				return nil, fmt.Errorf("credential: file %q holds no PEM certificate", o.CAFile)
			}
			if blocks := bytes.Count(contents[0], []byte("-----BEGIN CERTIFICATE-----")); blocks > countCertificates(contents[0]) {
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

// countCertificates counts the valid certificates of a PEM file.
func countCertificates(data []byte) (n int) {
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

// parsePair parses a certificate and its key. The errors contain no text of crypto/tls, which may
// be about secrets.
func (c *ClientCertificate) parsePair(o CertificateOptions, contents [][]byte) (*tls.Certificate, error) {
	if _, _, err := parsePEM(contents[1]); err != nil {
		return nil, fmt.Errorf("credential: key file %q %w", o.KeyFile, err)
	}
	if blocks := bytes.Count(contents[0], []byte("-----BEGIN CERTIFICATE-----")); blocks > countCertificates(contents[0]) {
		return nil, fmt.Errorf("credential: certificate file %q holds a certificate that is cut off or damaged", o.CertFile)
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("credential: certificate file %q does not hold the certificate of key file %q", o.CertFile, o.KeyFile)
	}
	if pair.Leaf == nil {
		return nil, fmt.Errorf("credential: certificate file %q can't be read", o.CertFile)
	}
	if now := c.now(); now.After(pair.Leaf.NotAfter) && now.Before(c.end) { // the one in use is still good
		return nil, fmt.Errorf("credential: certificate file %q: the certificate ended at %s", o.CertFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	c.end = pair.Leaf.NotAfter
	return &pair, nil
}

// Problem returns the reason that the current files can't be used, while the last usable version
// is; nil if there is none. It does not read them.
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

// Exposed returns the key file if it is world-readable (E8).
func (c *ClientCertificate) Exposed() []string {
	if c.certificate == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.certificate.exposed()), func(path string) bool { return path != c.certificate.paths[1] })
}

// Expiry returns the expiry of the certificate; zero if there is none.
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

// Config returns a copy of base with the current content of the files, for one connection to addr,
// which is host and port. For another service than that of the options it returns base itself. It
// is meant for [net/http.Transport.DialTLSContext], before the handshake: the authorities of a
// [tls.Config] can't be replaced later, so each connection has its own.
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
		// Whatever authorities the service names: there is only one certificate to choose.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.certificate.get() }
		config.Certificates = nil
	}
	return config, nil
}
