package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Certificates are the certificate of a listener with TLS and the authorities for those of clients. One that can't be used is nil and has an
// error, which names the key of the configuration and the file, and contains nothing of the file's content.
type Certificates struct {
	Own    *tls.Certificate // with its Leaf
	OwnErr error
	// ClientCAs are the authorities of whom clients need a certificate. Without an error and nil: clients are asked for none.
	ClientCAs    *x509.CertPool
	ClientCAsErr error
	// Authorities are the digests (SHA-256) of their certificates.
	Authorities []string
}

// TLS is a certificate and its key, and whose certificates clients must have. All files are read again when they change; connections that are open go on.
type TLS struct {
	// A PEM file with the certificate, followed by the intermediate certificates.
	CertFile File `yaml:"cert_file" required:"true" access:"none: the gateway's own certificate is renewed"`
	// The certificate's private key, PEM, unencrypted. It may be the same file.
	KeyFile File `yaml:"key_file" required:"true" access:"none: the gateway's own certificate is renewed"`
	// CA certificates, PEM. Clients then need a certificate issued by one of them, in addition to tokens.
	ClientCAFile File `yaml:"client_ca_file,omitempty" absent:"no client certificate is required" access:"joint: client certificates"`
}

// Certificates reads the certificate and its key, and the authorities of clients, from their files.
func (t *TLS) Certificates() Certificates {
	r := t.read()
	return Certificates{
		Own: r.certificate, OwnErr: errors.Join(prefixed("server.tls.cert_file", r.certErr), prefixed("server.tls.key_file", r.keyErr)),
		ClientCAs: r.clientCAs, ClientCAsErr: prefixed("server.tls.client_ca_file", r.caErr), Authorities: r.authorities,
	}
}

// ClientAuthorities returns the digests (SHA-256) of the certificates in server.tls.client_ca_file, as they were when the configuration was loaded.
func (c *Config) ClientAuthorities() []string { return slices.Clone(c.authorities) }

// Files are the paths of those that are read.
func (t *TLS) Files() (paths []string) {
	for _, f := range []File{t.CertFile, t.KeyFile, t.ClientCAFile} {
		if f != "" {
			paths = append(paths, f.String())
		}
	}
	return paths
}

func prefixed(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// tlsFiles is the content of the files of a [TLS], or the error of each of them.
type tlsFiles struct {
	certificate            *tls.Certificate
	clientCAs              *x509.CertPool
	certErr, keyErr, caErr error
	open                   bool     // every user of the machine can read the key
	warnings               []string // about authorities
	authorities            []string // digests of their certificates
}

func (t *TLS) read() (p tlsFiles) {
	if t.ClientCAFile != "" {
		var err error
		if p.clientCAs, p.authorities, p.warnings, err = authorities(t.ClientCAFile); err != nil {
			p.caErr = fmt.Errorf("%q %w", t.ClientCAFile, err)
		}
	}
	certData, _, err := readRegular(string(t.CertFile))
	if err != nil {
		p.certErr = fmt.Errorf("%q can't be read: %w", t.CertFile, err)
	} else if err := checkChain(certData); err != nil {
		p.certErr = fmt.Errorf("%q %w", t.CertFile, err)
	}
	keyData, info, err := readRegular(string(t.KeyFile))
	if err != nil {
		p.keyErr = fmt.Errorf("%q can't be read: %w", t.KeyFile, err)
	} else if err := checkKey(keyData); err != nil {
		p.keyErr = fmt.Errorf("%q %w", t.KeyFile, err)
	}
	if p.certErr != nil || p.keyErr != nil {
		return p
	}
	p.open = info.Mode().Perm()&0o004 != 0
	c, err := tls.X509KeyPair(certData, keyData)
	switch {
	case err == nil:
		p.certificate = &c
	case strings.Contains(err.Error(), "does not match"):
		p.keyErr = fmt.Errorf("%q is not the key of the certificate in %q", t.KeyFile, t.CertFile)
	default:
		p.certErr = fmt.Errorf("%q can't be used: %w", t.CertFile, err)
	}
	return p
}
