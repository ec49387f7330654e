package config

import (
	"fmt"
	"strings"
)

// maxSRVNames is the maximum number of names of a provider of SRV records.
const maxSRVNames = 1000

// eurekaDiscovery checks the provider of a Eureka server.
func (l *loader) eurekaDiscovery(key string, d *Discovery) {
	e := d.Eureka
	l.authority(key+".ca_file", e.CAFile)
	if !l.completeAccount(key, "url", e.Username, e.Password) {
		return
	}
	switch {
	case strings.Contains(e.Username, ":"):
		l.errorf(key+".username", "can't hold a colon")
	case checkText(e.Username) != nil:
		l.errorf(key+".username", "%s", checkText(e.Username))
	case checkText(e.Password.Reveal()) != nil:
		l.errorf(key+".password", "%s", checkText(e.Password.Reveal()))
	default:
		l.clearPassword(key+".url", e.URL, e.Username)
	}
}

// apiCatalogDiscovery checks the provider of an API catalog.
func (l *loader) apiCatalogDiscovery(key string, d *Discovery) {
	l.authority(key+".ca_file", d.APICatalog.CAFile)
}

// dnsDiscovery checks the provider of SRV records.
func (l *loader) dnsDiscovery(key string, d *Discovery) {
	c := d.DNS
	if at := key + ".server"; l.given(at) && l.ok(at) && c.DNSServer() == "" {
		l.errorf(at, "must be the IP address of a DNS server, with :PORT unless it is 53, got %s", quote(c.Server))
	}
	switch at := key + ".names"; {
	case !l.ok(at):
		return
	case len(c.Names) == 0:
		l.errorf(at, "is empty; it needs at least one name")
	case len(c.Names) > maxSRVNames:
		l.errorf(at, "has %d items; at most %d are allowed", len(c.Names), maxSRVNames)
		return
	}
	known := map[[2]string]int{}
	for i, name := range c.Names {
		at := fmt.Sprintf("%s.names[%d]", key, i)
		if !l.ok(at) {
			continue
		}
		if err := checkSRV(name); err != nil {
			l.errorf(at, "%s %s", quote(name), err)
			continue
		}
		service, namespace := SRVService(name)
		if j, taken := known[[2]string{service, namespace}]; taken {
			l.errorf(at, "%s is the service %s of %s, as names[%d] is", quote(name), service, namespace, j)
			continue
		}
		known[[2]string{service, namespace}] = i
	}
}
