package config

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// DNSDiscovery asks for SRV records (RFC 2782). Each name is one service.
type DNSDiscovery struct {
	// The names, such as _http._tcp.orders.shop.example.com or orders.service.consul; at most 1,000. The service is the label
	// behind the labels that begin with _, here orders, in the namespace of the rest. With the labels of another service than
	// http and https, as in _orders._tcp.example.com, it is that one.
	Names []string `yaml:"names" required:"true" empty:"it needs at least one name" count:"1000: has %d items; at most %d are allowed"`
	// The DNS server: HOST or HOST:PORT, with an IP address as HOST.
	Server string `yaml:"server,omitempty" absent:"those of the system"`
	// How often the records are asked for. Their TTL is not used.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// The scheme of the services.
	Scheme DNSScheme `yaml:"scheme,omitempty" absent:"https for names that begin with _https, else http"`
}

// DNSScheme is the scheme of services that are found by DNS.
type DNSScheme string

func (DNSScheme) values() []string { return []string{"http", "https"} }

// SRVService returns the name and the namespace of the service that a name of SRV records stands for.
func SRVService(name string) (service, namespace string) {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(name, ".")), ".")
	if len(labels) > 2 && strings.HasPrefix(labels[0], "_") && strings.HasPrefix(labels[1], "_") {
		kind := strings.TrimPrefix(labels[0], "_")
		labels = labels[2:]
		if kind != "http" && kind != "https" {
			return kind, strings.Join(labels, ".")
		}
	}
	return labels[0], strings.Join(labels[1:], ".")
}

// checkSRV checks a name of SRV records (RFC 1035 section 2.3.4).
func checkSRV(name string) error {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	if len(labels) < 2 || len(name) > 254 {
		return errors.New("is not a DNS name of at least two labels")
	}
	for i, label := range labels {
		rest := strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
		if label == "" || len(label) > 63 || rest != "" {
			return errors.New("is not a DNS name: labels have 1 to 63 letters, digits, - and _")
		}
		if strings.HasPrefix(label, "_") && (i > 1 || len(label) == 1) || i == 1 && strings.HasPrefix(label, "_") != strings.HasPrefix(labels[0], "_") {
			return errors.New("is not a name of SRV records: expected _SERVICE._PROTOCOL.NAME, or a name without labels that begin with _")
		}
	}
	if service, _ := SRVService(name); strings.HasPrefix(service, "_") {
		return errors.New("is not a name of SRV records: it has no name behind _SERVICE._PROTOCOL")
	}
	return nil
}

// DNSServer returns the address of Server with its port; "" without a server.
func (d *DNSDiscovery) DNSServer() string {
	if at, err := netip.ParseAddrPort(d.Server); err == nil && at.Port() != 0 {
		return at.String()
	}
	if ip, err := netip.ParseAddr(strings.Trim(d.Server, "[]")); err == nil {
		return netip.AddrPortFrom(ip, 53).String()
	}
	return ""
}

func (d *DNSDiscovery) validate(c cursor) {
	if c.given("server") && c.ok("server") && d.DNSServer() == "" {
		c.errorf("server", "must be the IP address of a DNS server, with :PORT unless it is 53, got %s", quote(d.Server))
	}
	known := map[[2]string]int{}
	for i, name := range d.Names {
		at := c.item("names", i)
		if !c.ok(at) {
			continue
		}
		if err := checkSRV(name); err != nil {
			c.errorf(at, "%s %s", quote(name), err)
			continue
		}
		service, namespace := SRVService(name)
		if j, taken := known[[2]string{service, namespace}]; taken {
			c.errorf(at, "%s is the service %s of %s, as names[%d] is", quote(name), service, namespace, j)
			continue
		}
		known[[2]string{service, namespace}] = i
	}
}

func (d *DNSDiscovery) registrations(service string) (r registrations) {
	for _, record := range d.Names {
		if name, namespace := SRVService(record); name == service && !slices.Contains(r.namespaces, namespace) {
			r.namespaces = append(r.namespaces, namespace)
		}
	}
	return r
}
