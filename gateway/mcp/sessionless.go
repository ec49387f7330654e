package mcp

import (
	"crypto/rand"

	"drawbridge/openapi/jsonscan"
)

// useImplicitSession serves a legacy request without a session id if its method needs no session, and reports whether
// it does. Simple clients and command lines send such requests. The client's capabilities are unknown, so it can't be
// elicited. The request gets a session of its own, which no other request can use. The revision is that of the header,
// else the one that servers assume without it (2025-06-18 transports, Protocol Version Header). Batches need a session.
func (x *exchange) useImplicitSession(e *envelope) bool {
	if !x.h.reloadable.Load().Sessionless || e.id == nil {
		return false
	}
	if !protocolMethods[string(jsonscan.Unquote(e.method))].sessionless {
		return false
	}
	if id, _ := headerValue(x.req.HTTP.Header, headerSession); id != "" {
		return false
	}
	ss := session{revision: uint8(legacyIndex(revision20250326)), query: x.req.HTTP.URL.RawQuery}
	if version, ok := headerValue(x.req.HTTP.Header, headerVersion); ok {
		ss.revision = uint8(legacyIndex(version)) //nolint:gosec // valid, see checkLegacyVersion
	}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	x.useSession(ss)
	return true
}
