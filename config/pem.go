package config

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// authorities reads those of clients and of services. A file with a certificate that can't be read is of no use, and neither is one without any: whom
// they let in would be refused, and nobody would know why. digests are of their certificates; warnings are of those of clients.
func authorities(file File) (pool *x509.CertPool, digests, warnings []string, err error) {
	data, _, err := readRegular(string(file))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("can't be read: %w", err)
	}
	all, err := certificatesIn(data)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, nil, errors.New("holds no PEM certificate")
	}
	pool = x509.NewCertPool()
	for n, c := range all {
		pool.AddCert(c)
		sum := sha256.Sum256(c.Raw)
		digests = append(digests, hex.EncodeToString(sum[:]))
		if warning := authorityWarning(c, time.Now()); warning != "" {
			warnings = append(warnings, fmt.Sprintf("certificate number %d %s", n+1, warning))
		}
	}
	return pool, digests, warnings, nil
}

// authorityWarning tells why an authority will let in nobody, or hardly anybody (as x509.Certificate.CheckSignatureFrom has it); "": it may.
func authorityWarning(c *x509.Certificate, now time.Time) string {
	switch {
	case now.After(c.NotAfter):
		return fmt.Sprintf("is expired since %s, so it lets in nobody", c.NotAfter.UTC().Format(certificateTime))
	case now.Before(c.NotBefore):
		return fmt.Sprintf("is not valid before %s, so it lets in nobody", c.NotBefore.UTC().Format(certificateTime))
	case c.Version == 3 && !c.BasicConstraintsValid || c.BasicConstraintsValid && !c.IsCA || c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
		return "is no authority's, so it lets in nobody but who has it"
	}
	return ""
}

// certificatesIn reads the certificates of a PEM file, of which all must be readable. encoding/pem passes over those that are no whole blocks, so what begins is counted.
func certificatesIn(data []byte) (all []*x509.Certificate, err error) {
	const kind = "CERTIFICATE"
	for block := range blocks(data) {
		if block.Type != kind {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds a certificate that can't be read, number %d", len(all)+1)
		}
		all = append(all, c)
	}
	if begun := bytes.Count(data, []byte("-----BEGIN "+kind+"-----")); begun > len(all) {
		return nil, fmt.Errorf("holds %d certificates, of which %d can be read: the others are cut off or damaged", begun, len(all))
	}
	return all, nil
}

const certificateTime = "2006-01-02 15:04 MST"

// checkChain returns the fault of the certificates of a PEM file.
func checkChain(data []byte) error {
	all, err := certificatesIn(data)
	if err != nil || len(all) > 0 {
		return err
	}
	for block := range blocks(data) {
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return errors.New("holds a private key and no certificate; are cert_file and key_file the wrong way round?")
		}
	}
	return errors.New("holds no PEM certificate")
}

// checkKey returns the fault of the private key of a PEM file.
func checkKey(data []byte) error {
	certificate := false
	for block := range blocks(data) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return errors.New("is encrypted, and there is nobody to ask for the passphrase")
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			if !readableKey(block.Bytes) {
				return errors.New("holds a private key that can't be read")
			}
			return nil
		case block.Type == "CERTIFICATE":
			certificate = true
		}
	}
	if certificate {
		return errors.New("holds a certificate and no private key; are cert_file and key_file the wrong way round?")
	}
	return errors.New("holds no PEM private key")
}

func readableKey(der []byte) bool {
	if _, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return true
	}
	if _, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return true
	}
	_, err := x509.ParseECPrivateKey(der)
	return err == nil
}

// blocks goes through the blocks of a PEM file.
func blocks(data []byte) iter.Seq[*pem.Block] {
	return func(yield func(*pem.Block) bool) {
		for {
			var block *pem.Block
			if block, data = pem.Decode(bytes.TrimSpace(data)); block == nil || !yield(block) {
				return
			}
		}
	}
}
