package config

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"
)

// tls checks the listener's own certificate. One that clients will refuse is a warning: whoever starts the gateway may
// know a reason, and another one may be on its way.
func (l *loader) tls(cfg *Config) {
	const key = "server.tls"
	t := cfg.Server.TLS
	l.files = append(l.files, t.Files()...)
	if !l.ok(key, key+".cert_file", key+".key_file", key+".client_ca_file") {
		return
	}
	if noCert, noKey := l.secretMissing(key+".cert_file", t.CertFile), l.secretMissing(key+".key_file", t.KeyFile); noCert || noKey {
		return
	}
	p := t.read()
	cfg.authorities = p.authorities
	if p.caErr != nil {
		l.errorf(key+".client_ca_file", "%s", p.caErr)
	}
	for _, warning := range p.warnings {
		l.warnf(key+".client_ca_file", "%s", warning)
	}
	if t.ClientCAFile != "" && (cfg.Identity != nil || len(cfg.Tools.CallbackURLs) > 0) {
		l.warnf(key+".client_ca_file", "services need a certificate of these authorities as well, to fetch the keys of identity and to call back (tools.callback_urls)")
	}
	if p.certErr != nil {
		l.errorf(key+".cert_file", "%s", p.certErr)
	}
	if p.keyErr != nil {
		l.errorf(key+".key_file", "%s", p.keyErr)
	}
	if p.certificate == nil {
		return
	}
	if p.open {
		l.warnf(key+".key_file", "the secret file %q can be read by every user of the machine", t.KeyFile)
	}
	leaf, now := p.certificate.Leaf, time.Now()
	switch {
	case now.After(leaf.NotAfter):
		l.warnf(key+".cert_file", "the certificate is expired since %s, so clients refuse it", leaf.NotAfter.UTC().Format(certificateTime))
	case now.Before(leaf.NotBefore):
		l.warnf(key+".cert_file", "the certificate is not valid before %s, so clients refuse it", leaf.NotBefore.UTC().Format(certificateTime))
	}
	if cfg.publicURL() == "" || !l.ok("server", "server.public_url", "server.public_urls", "server.listen") {
		return
	}
	hosts := []string{cfg.Server.Listen.Host()}
	if urls := cfg.configuredURLs(); len(urls) > 0 {
		hosts = hosts[:0]
		for _, u := range urls {
			hosts = append(hosts, u.URL().Hostname())
		}
	}
	for _, host := range hosts {
		if leaf.VerifyHostname(host) != nil {
			l.warnf(key+".cert_file", "the certificate is for %s, not for %s, so clients refuse it", names(leaf), host)
		}
	}
}

// names lists whom a certificate is for.
func names(c *x509.Certificate) string {
	all := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	switch {
	case len(all) == 0:
		return "nobody (it has no subject alternative names)"
	case len(all) > 5:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:5], ", "), len(all)-5)
	}
	return strings.Join(all, ", ")
}
