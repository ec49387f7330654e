package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// isService reports whether addr, "host:port", is that of Service or of an instance of it.
func (o *Options) isService(addr string) bool {
	addr = origin.Lower(addr)
	if at, ok := origin.Of(o.Service); ok && at.Address() == addr {
		return true
	}
	return o.Instances != nil && slices.Contains(o.Instances(), addr)
}

// tlsAdvice adds to the error of a TLS handshake the configuration key that can change it. The keys have the same names at each server in
// the configuration.
func tlsAdvice(err error, config *tls.Config) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown) && config.RootCAs == nil:
		return fmt.Errorf("%w; if the authority is the right one, set ca_file to a file with its certificate", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; ca_file does not contain the certificate of its authority", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w; the certificate is for another name: correct the URL, or set tls.server_name of the API", err)
	case errors.As(err, &plain):
		return fmt.Errorf("%w; the server may speak http, not https", err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the server closed the connection instead of a TLS handshake; it may speak http, not https", err)
	case config.MinVersion > tls.VersionTLS12 && strings.Contains(err.Error(), "protocol version"):
		return fmt.Errorf("%w; tls.min_version requires %s", err, tls.VersionName(config.MinVersion))
	}
	return err
}
