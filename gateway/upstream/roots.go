package upstream

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

// ReadRoots reads a PEM file with trusted certificates. It returns nil, for those of the system, if file is empty. open opens the file; if it is
// nil, the file is opened by its path.
func ReadRoots(file string, open func(path string) (*os.File, error)) (pem []byte, roots *x509.CertPool, err error) {
	if file == "" {
		return nil, nil, nil
	}
	if open == nil {
		open = os.Open
	}
	f, err := open(file)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if pem, err = io.ReadAll(f); err != nil {
		return nil, nil, err
	}
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, nil, fmt.Errorf("%q holds no PEM certificate", file)
	}
	return pem, roots, nil
}
