package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// methodEntry is a method in the handler's table.
type methodEntry struct {
	name      string
	family    RevisionFamily // zero if both families have the method
	cacheable bool
	serve     Method
}

// isCacheable reports whether results of a method must carry caching hints (2026-07-28 utilities/caching).
func isCacheable(name string) bool {
	switch name {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

// declares reports whether the capability of a method is declared, and returns the only family that has the method,
// zero if both have it.
func (c *Capabilities) declares(name string) (family RevisionFamily, ok bool) {
	prefix, _, _ := strings.Cut(name, "/")
	switch prefix {
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

// methodTable returns the table of all methods. Methods of a capability exist only if it is declared (mcp-V2); the
// handler's own methods replace others of their name.
func (h *Handler) methodTable(methods Methods) map[string]methodEntry {
	t := make(map[string]methodEntry)
	add := func(name string, family RevisionFamily, serve Method) {
		t[name] = methodEntry{name: name, family: family, cacheable: isCacheable(name), serve: serve}
	}
	for name, m := range methods {
		if family, ok := h.o.Capabilities.declares(name); ok {
			add(name, family, m)
		}
	}
	for _, own := range [...]string{
		"initialize", // see exchange.initialize
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

// knownNotification returns the name of a notification that clients of some revision send, "" for any other.
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

// admissionName returns the name by which [Options].Admit knows a message without a response.
func (e *envelope) admissionName() string {
	if e.isResponse {
		return "response"
	}
	return knownNotification(e.method)
}

// servePing answers ping, which only the legacy revisions have.
func servePing(_ context.Context, _ *Request, reply *Reply) error { return reply.Result() }

// serveServerDiscover answers server/discover (2026-07-28 server/discover).
func (h *Handler) serveServerDiscover(ctx context.Context, req *Request, reply *Reply) error {
	instructions, err := h.connect(ctx, req)
	if err != nil {
		return err
	}
	reply.Cache(h.o.DiscoverCache)
	return reply.Result(withInstructions(h.serverInfo.Load().discover, instructions)...)
}

// initialize answers initialize with a new session. The version is the client's if it is supported, else the newest
// legacy revision (2025-11-25 lifecycle, Version Negotiation).
func (x *exchange) initialize(e *envelope) *Error {
	instructions, err := x.negotiate(e)
	if err != nil {
		return err
	}
	x.sendInitializeResult(instructions)
	return nil
}

// negotiate creates the session that initialize asks for. The client does not have its id yet.
func (x *exchange) negotiate(e *envelope) (instructions string, fault *Error) {
	h := x.h
	x.event.Method = "initialize"
	requested, ok := decodeString(jsonscan.Lookup(e.params, "protocolVersion"))
	if !ok {
		return "", InvalidParams("params.protocolVersion must be a string")
	}
	ss := session{
		expiry:       h.now().Add(h.reloadable.Load().SessionLife).Unix(),
		revision:     uint8(max(0, legacyIndex(requested))), //nolint:gosec // few
		capabilities: clientCapabilities(jsonscan.Lookup(e.params, "capabilities")),
		query:        x.req.Query(),
	}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	x.session, x.req.Method, x.req.Revision = ss, x.event.Method, legacyRevisions[ss.revision]
	instructions, err := h.connect(x.req.HTTP.Context(), &x.req)
	if err == nil {
		return instructions, nil
	}
	if !errors.As(err, &fault) {
		fault = x.internalError("a client could not connect", 0, slog.Any("error", err))
	}
	return "", fault
}

// sendInitializeResult answers initialize with the negotiated session.
func (x *exchange) sendInitializeResult(instructions string) {
	x.out.rw.Header().Set(headerSession, x.h.sessionSealer.seal(x.req.Principal, x.session))
	members := x.h.serverInfo.Load().initialize[x.session.revision]
	_ = x.reply.Result(withInstructions(members, instructions)...) // a connection error; it can't be reported to anyone
}

// checkLegacyVersion refuses a version header that names no legacy revision. Without the header the session determines
// the revision; a revision other than the session's is tolerated, since clients are only advised to send the negotiated
// one (2025-11-25 transports, Protocol Version Header).
func checkLegacyVersion(h http.Header) *Error {
	if version, ok := headerValue(h, headerVersion); ok && legacyIndex(version) < 0 {
		return unsupportedVersion(version)
	}
	return nil
}

// checkParams refuses a request that lacks a parameter or capability that its method requires.
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

// ResourceNotFound returns the error for a resource that does not exist or that the caller may not know of. The code
// depends on the family (2025-11-25 and 2026-07-28 server/resources, Error Handling).
func ResourceNotFound(of RevisionFamily, uri string) *Error {
	e := &Error{Code: CodeInvalidParams, Message: "resource not found: resources/list and resources/templates/list have those of this server", Data: append(jsonscan.AppendString([]byte(`{"uri":`), uri), '}')}
	if of == Legacy {
		e.Code = CodeResourceNotFound
	}
	return e
}
