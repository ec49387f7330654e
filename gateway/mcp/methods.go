package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// entry is a method as the handler looks it up.
type methodEntry struct {
	name      string
	family    RevisionFamily // 0: both
	cacheable bool
	serve     Method
}

// cacheableMethod tells whether a method's results must carry caching hints (2026-07-28
// utilities/caching).
func isCacheable(name string) bool {
	switch name {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

// declared tells whether the capability of a method is declared, and the era that
// alone has the method.
func (c *Capabilities) declares(name string) (era RevisionFamily, ok bool) {
	family, _, _ := strings.Cut(name, "/")
	switch family {
	case "tools":
		return 0, c.Tools
	case "prompts":
		return 0, c.Prompts
	case "resources":
		return 0, c.Resources
	case "completion":
		return 0, c.Completions
	case "tasks":
		return Stateless, c.Tasks
	}
	return 0, true
}

// table makes the table of everything that can be called. What a capability stands
// for exists only with it (mcp-V2); the handler's own methods go before all others.
func (h *Handler) methodTable(methods Methods) map[string]methodEntry {
	t := make(map[string]methodEntry)
	add := func(name string, era RevisionFamily, serve Method) {
		t[name] = methodEntry{name: name, family: era, cacheable: isCacheable(name), serve: serve}
	}
	for name, m := range methods {
		if era, ok := h.o.Capabilities.declares(name); ok {
			add(name, era, m)
		}
	}
	for _, own := range [...]string{
		"initialize", // see begin
		"logging/setLevel", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe",
	} {
		delete(t, own)
	}
	add("ping", Legacy, servePing)
	add("server/discover", Stateless, h.serveServerDiscover)
	if h.o.Capabilities.Logging {
		add("logging/setLevel", Legacy, h.serveSetLevel)
	}
	if h.o.Broker != nil {
		add("subscriptions/listen", Stateless, h.serveSubscriptionsListen)
	}
	if h.supportsResourceSubscriptions() {
		add("resources/subscribe", Legacy, h.serveSubscribe)
		add("resources/unsubscribe", Legacy, h.serveUnsubscribe)
	}
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

// said names a message that wants no answer, as [Options].Admit is told of it.
func (e *envelope) admissionName() string {
	if e.isResponse {
		return "response"
	}
	return knownNotification(e.method)
}

// pong answers ping, which the modern era has no more.
func servePing(_ context.Context, _ *Request, reply *Reply) error { return reply.Result() }

// serveDiscover answers server/discover (2026-07-28 server/discover).
func (h *Handler) serveServerDiscover(_ context.Context, _ *Request, reply *Reply) error {
	reply.Cache(h.o.DiscoverCache)
	return reply.Result(Chunk{Bytes: h.serverInfo.Load().discover})
}

// begin answers initialize with a new session. The version is the client's if it
// is served, else the newest that is (2025-11-25 lifecycle, Version Negotiation).
func (x *exchange) initialize(e *envelope) *Error {
	if err := x.negotiate(e); err != nil {
		return err
	}
	x.sendInitializeResult()
	return nil
}

// agree makes the session that initialize asks for. The client does not know of it yet.
func (x *exchange) negotiate(e *envelope) *Error {
	h := x.h
	x.event.Method = "initialize"
	requested, ok := decodeString(jsonscan.Lookup(e.params, "protocolVersion"))
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
	return nil
}

// welcome answers initialize with the session that was agreed on.
func (x *exchange) sendInitializeResult() {
	x.out.rw.Header().Set(headerSession, x.h.sessionSealer.seal(x.req.Principal, x.session))
	_ = x.reply.Result(Chunk{Bytes: x.h.serverInfo.Load().initialize[x.session.revision]}) // the connection's error; there is nobody left to tell
}

// checkLegacyVersion refuses a version header that names no revision. Without one
// the session tells the revision; another than the session's is tolerated, since
// clients are only advised to send the negotiated one (2025-11-25 transports,
// Protocol Version Header).
func checkLegacyVersion(h http.Header) *Error {
	if version, ok := headerValue(h, headerVersion); ok && legacyIndex(version) < 0 {
		return unsupportedVersion(version)
	}
	return nil
}

// need refuses a request that lacks what its method is about.
func (m *methodEntry) checkParams(r *Request) *Error {
	switch m.name {
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		if r.URI == "" {
			return InvalidParams("params.uri is missing: it must be the URI of a resource")
		}
	case "tasks/get", "tasks/update", "tasks/cancel":
		if !r.Client.Has(ClientTasks) {
			return missingCapability(ClientTasks)
		}
		if r.TaskID == "" {
			return InvalidParams("params.taskId is missing: it must be the id of a task")
		}
	}
	return nil
}

// ResourceNotFound is the error for a resource that does not exist, or that the
// caller may not know of: each era has its own code (2025-11-25 and 2026-07-28 server/resources, Error Handling).
func (r *Request) ResourceNotFound(uri string) *Error {
	e := &Error{Code: CodeInvalidParams, Message: "resource not found: resources/list and resources/templates/list have those of this server", Data: append(jsonscan.AppendString([]byte(`{"uri":`), uri), '}')}
	if r.Family == Legacy {
		e.Code = CodeResourceNotFound
	}
	return e
}
