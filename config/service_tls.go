package config

import (
	"net/netip"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// ServiceTLS is how TLS connections to a service are made.
type ServiceTLS struct {
	// The name that the certificate of the service must have, which is also sent to it (SNI), if it differs from the host
	// of the URL. It applies only to the host and port of base_url, or without base_url to those of the document's URL.
	ServerName string `yaml:"server_name,omitempty" absent:"the host of the URL" access:"any"`
	// The lowest version of TLS, for all connections of the API: "1.2" or "1.3".
	MinVersion TLSVersion `yaml:"min_version" default:"1.2" access:"restricts: 1.3"`
}

func (t *ServiceTLS) validate(c cursor) {
	if !c.given("server_name") && !c.given("min_version") {
		c.errorf("", "is empty; it takes server_name and min_version")
	}
	if t.ServerName != "" && c.ok("server_name") && !isHostName(t.ServerName) {
		c.errorf("server_name", "must be a host name or an IP address, without scheme and port, got %s", quote(t.ServerName))
	}
	if api := enclosing[API](c); api.BaseURL != nil && api.BaseURL.parsed != nil && api.BaseURL.parsed.Scheme != "https" && c.given("server_name") {
		c.errorf("server_name", "needs https: base_url %s is not", api.BaseURL.Origin())
	}
}

// isHostName reports whether a text may be the name of a certificate: an ASCII host name or an IP address.
func isHostName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	return len(text) <= 253 && !slices.ContainsFunc(labels, func(label string) bool {
		return label == "" || len(label) > 63 || strings.Trim(origin.Lower(label), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.Trim(label, "-") != label
	})
}
