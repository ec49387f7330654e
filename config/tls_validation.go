package config

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"
)

// A certificate that clients will refuse is a warning: the operator may know a reason, and another one may be on its way.
func (t *TLS) validate(c cursor) {
	c.loader.files = append(c.loader.files, t.Files()...)
	if !c.ok("cert_file", "key_file", "client_ca_file") {
		return
	}
	if noCert, noKey := c.secretMissing(c.path("cert_file"), t.CertFile), c.secretMissing(c.path("key_file"), t.KeyFile); noCert || noKey {
		return
	}
	cfg, p := c.config(), t.read()
	cfg.authorities = p.authorities
	if p.caErr != nil {
		c.errorf("client_ca_file", "%s", p.caErr)
	}
	for _, warning := range p.warnings {
		c.warnf("client_ca_file", "%s", warning)
	}
	if t.ClientCAFile != "" && (cfg.Identity != nil || len(cfg.Tools.CallbackURLs) > 0) {
		c.warnf("client_ca_file", "services need a certificate of these authorities as well, to fetch the keys of identity and to call back (tools.callback_urls)")
	}
	if p.certErr != nil {
		c.errorf("cert_file", "%s", p.certErr)
	}
	if p.keyErr != nil {
		c.errorf("key_file", "%s", p.keyErr)
	}
	if p.certificate == nil {
		return
	}
	if p.open {
		c.warnf("key_file", "the secret file %q can be read by every user of the machine", t.KeyFile)
	}
	leaf, now := p.certificate.Leaf, time.Now()
	switch {
	case now.After(leaf.NotAfter):
		c.warnf("cert_file", "the certificate is expired since %s, so clients refuse it", leaf.NotAfter.UTC().Format(certificateTime))
	case now.Before(leaf.NotBefore):
		c.warnf("cert_file", "the certificate is not valid before %s, so clients refuse it", leaf.NotBefore.UTC().Format(certificateTime))
	}
	if cfg.publicURL() == "" || !c.loader.ok("server.public_url", "server.public_urls", "server.listen") {
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
			c.warnf("cert_file", "the certificate is for %s, not for %s, so clients refuse it", certificateNames(leaf), host)
		}
	}
}

// certificateNames lists the names and addresses that a certificate is for.
func certificateNames(c *x509.Certificate) string {
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
