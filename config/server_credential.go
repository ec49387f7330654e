package config

import (
	"maps"
	"slices"

	"drawbridge/openapi/origin"
)

// validateServerCredentials checks the keys of server_credentials: another origin than that of the API, which calls may go to (E4).
func (a *API) validateServerCredentials(c cursor) {
	seen := map[Origin]string{}
	for _, name := range slices.Sorted(maps.Keys(a.ServerCredentials)) {
		one := "server_credentials." + name
		var to Origin
		if err := to.parse(name); err != nil {
			c.errorf(one, "the key must be an origin, scheme://host[:port]: %s", err)
			continue
		}
		at, _ := origin.Parse(to.String())
		own := a.Spec.String()
		if a.BaseURL != nil {
			own = a.BaseURL.String()
		}
		switch home, ok := origin.Parse(own); {
		case seen[to] != "":
			c.errorf(one, "names the same origin as %s", quote(seen[to]))
		case a.BaseURLs.HasOrigin(at): // it replaces credential there
		case ok && home.String() == to.String() && c.ok("spec", "base_url"):
			c.errorf(one, "is the origin of the API itself, which gets credential or credentials")
		case !slices.Contains(a.AllowServers, to) && c.ok("allow_servers"):
			c.errorf(one, "is not listed in allow_servers, so no call goes there; write allow_servers: [%s]", quote(to.String()))
		}
		seen[to] = name
	}
}
