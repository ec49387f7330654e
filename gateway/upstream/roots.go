package upstream

import (
	"crypto/x509"
	"fmt"
	"os"
)

// ReadRoots reads a PEM file with trusted certificates. It returns nil, for those of the system, if file is empty.
func ReadRoots(file string) (pem []byte, roots *x509.CertPool, err error) {
	if file == "" {
		return nil, nil, nil
	}
	if pem, err = os.ReadFile(file); err != nil {
		return nil, nil, err
	}
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, nil, fmt.Errorf("%q holds no PEM certificate", file)
	}
	return pem, roots, nil
}
