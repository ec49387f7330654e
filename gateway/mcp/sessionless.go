package mcp

import "crypto/rand"

// sessionless serves a legacy request that names no session, if it is one that needs none: clients without a memory, and
// people with a command line, send it first. Nothing is known of the client, so it is one that can't be asked; the request
// has a session of its own, which nothing else can name. The revision is that of the header, else the one that servers
// assume without it (2025-06-18 transports, Protocol Version Header). A batch is not served that way.
func (x *exchange) useImplicitSession(e *envelope) bool {
	if !x.h.reloadable.Load().Sessionless || e.id == nil {
		return false
	}
	switch string(e.method) {
	case `"tools/list"`, `"tools/call"`, `"ping"`:
	default:
		return false
	}
	if id, _ := headerValue(x.req.HTTP.Header, headerSession); id != "" {
		return false
	}
	ss := session{revision: legacyIndex(revision20250326)}
	if version, ok := headerValue(x.req.HTTP.Header, headerVersion); ok {
		ss.revision = legacyIndex(version) // it is one: checkLegacyVersion
	}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	x.useSession(ss)
	return true
}
