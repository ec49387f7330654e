package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// entry is a method as the handler looks it up.
type entry struct {
	name      string
	era       Era // 0: both
	cacheable bool
	serve     Method
}

// cacheableMethod tells whether a method's results must carry caching hints (2026-07-28
// utilities/caching).
func cacheableMethod(name string) bool {
	switch name {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

// table makes the table of everything that can be called. What a capability stands
// for exists only with it (mcp-V2); the handler's own methods go before all others.
func (h *Handler) table(methods Methods) map[string]entry {
	t := make(map[string]entry)
	for name, m := range methods {
		if strings.HasPrefix(name, "tools/") && !h.o.Capabilities.Tools {
			continue
		}
		t[name] = entry{name: name, cacheable: cacheableMethod(name), serve: m}
	}
	delete(t, "initialize") // see begin
	t["ping"] = entry{name: "ping", era: Legacy, serve: pong}
	if h.o.Capabilities.Logging {
		t["logging/setLevel"] = entry{name: "logging/setLevel", era: Legacy, serve: h.setLevel}
	}
	t["server/discover"] = entry{name: "server/discover", era: Modern, cacheable: true, serve: h.serveDiscover}
	return t
}

// knownNotification returns the name of a notification that clients of some revision
// may send, "" for others.
func knownNotification(method []byte) string {
	for _, name := range [...]string{
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
	} {
		if string(jsonscan.Unquote(method)) == name {
			return name
		}
	}
	return ""
}

// pong answers ping, which the modern era has no more.
func pong(_ context.Context, _ *Request, reply *Reply) error { return reply.Result() }

// serveDiscover answers server/discover (2026-07-28 server/discover).
func (h *Handler) serveDiscover(_ context.Context, _ *Request, reply *Reply) error {
	reply.Cache(h.o.DiscoverCache)
	return reply.Result(Chunk{Bytes: h.discover})
}

// implementation is what a server says of itself.
type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// capabilities is a ServerCapabilities object.
type capabilities struct {
	Tools   *toolsCapability `json:"tools,omitempty"`
	Logging *struct{}        `json:"logging,omitempty"`
}

type toolsCapability struct {
	ListChanged bool `json:"listChanged"`
}

// describe serializes what the server says of itself: it is the same for everyone.
func (h *Handler) describe() {
	info := implementation{Name: h.o.Name, Title: h.o.Title, Version: h.o.Version}
	var caps capabilities
	if h.o.Capabilities.Tools {
		caps.Tools = &toolsCapability{}
	}
	if h.o.Capabilities.Logging {
		caps.Logging = &struct{}{}
	}
	h.serverMeta = members(map[string]any{keyServerInfo: info})
	h.discover = members(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
		Instructions      string       `json:"instructions,omitempty"`
	}{Revisions(), caps, h.o.Instructions})
	for _, revision := range legacyRevisions {
		info := info
		if revision < revision20250618 { // the first with titles
			info.Title = ""
		}
		h.initialize = append(h.initialize, members(struct {
			ProtocolVersion string         `json:"protocolVersion"`
			Capabilities    capabilities   `json:"capabilities"`
			ServerInfo      implementation `json:"serverInfo"`
			Instructions    string         `json:"instructions,omitempty"`
		}{revision, caps, info, h.o.Instructions}))
	}
}

// members serializes an object and takes off its braces.
func members(object any) []byte {
	b, err := json.Marshal(object)
	if err != nil { // only types of this file come here, and they marshal
		panic("mcp: " + err.Error())
	}
	return slices.Clip(b[1 : len(b)-1])
}

// begin answers initialize with a new session. The version is the client's if it
// is served, else the newest that is (2025-11-25 lifecycle, Version Negotiation).
func (x *exchange) begin(e *envelope) *Error {
	h := x.h
	x.event.Method = "initialize"
	requested, ok := text(jsonscan.Lookup(e.params, "protocolVersion"))
	if !ok {
		return InvalidParams("params.protocolVersion must be a string")
	}
	ss := session{
		expiry:       h.now().Add(sessionLife),
		revision:     max(0, legacyIndex(requested)),
		capabilities: clientCapabilities(jsonscan.Lookup(e.params, "capabilities")),
	}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	x.session, x.req.Revision = ss, legacyRevisions[ss.revision]
	x.out.w.Header().Set(headerSession, h.sealer.seal(x.req.Principal, ss))
	_ = x.reply.Result(Chunk{Bytes: h.initialize[ss.revision]}) // the connection's error; there is nobody left to tell
	return nil
}

// checkLegacyVersion refuses a version header that names no revision. Without one
// the session tells the revision; another than the session's is tolerated, since
// clients are only advised to send the negotiated one (2025-11-25 transports,
// Protocol Version Header).
func checkLegacyVersion(h http.Header) *Error {
	if version, ok := first(h, headerVersion); ok && legacyIndex(version) < 0 {
		return badVersion(version)
	}
	return nil
}
