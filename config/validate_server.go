package config

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// serverCredentials checks the keys of server_credentials: another origin than that of the API, which calls may go to (E4).
func (l *loader) serverCredentials(key string, api *API) {
	at := key + ".server_credentials"
	if l.given(at) && len(api.ServerCredentials) == 0 && l.ok(at) {
		l.errorf(at, "is empty; leave it out, or name an origin that allow_servers lists")
	}
	seen := map[Origin]string{}
	for _, name := range slices.Sorted(maps.Keys(api.ServerCredentials)) {
		one := at + "." + name
		var to Origin
		if err := to.parse(name); err != nil {
			l.errorf(one, "the key must be an origin, scheme://host[:port]: %s", err)
			continue
		}
		own := api.Spec.String()
		if api.BaseURL != nil {
			own = api.BaseURL.String()
		}
		switch home, ok := origin.Parse(own); {
		case seen[to] != "":
			l.errorf(one, "names the same origin as %s", quote(seen[to]))
		case ok && home.String() == to.String() && l.ok(key+".spec", key+".base_url"):
			l.errorf(one, "is the origin of the API itself, which gets credential or credentials")
		case !slices.Contains(api.AllowServers, to) && l.ok(key+".allow_servers"):
			l.errorf(one, "is not listed in allow_servers, so no call goes there; write allow_servers: [%s]", quote(to.String()))
		}
		seen[to] = name
	}
}

// serviceTLS checks how TLS connections to the service of an API are made.
func (l *loader) serviceTLS(key string, api *API) {
	t := api.TLS
	if t == nil || !l.ok(key) {
		return
	}
	if !l.given(key+".server_name") && !l.given(key+".min_version") {
		l.errorf(key, "is empty; it takes server_name and min_version")
	}
	if t.ServerName != "" && l.ok(key+".server_name") && !isHostName(t.ServerName) {
		l.errorf(key+".server_name", "must be a host name or an IP address, without scheme and port, got %s", quote(t.ServerName))
	}
	if api.BaseURL != nil && api.BaseURL.parsed != nil && api.BaseURL.parsed.Scheme != "https" && l.given(key+".server_name") && !api.IsDiscovered() {
		l.errorf(key+".server_name", "needs https: base_url %s is not", api.BaseURL.Origin())
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
