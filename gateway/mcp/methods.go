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

// declared tells whether the capability of a method is declared, and the era that
// alone has the method.
func (c *Capabilities) declared(name string) (era Era, ok bool) {
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
		return Modern, c.Tasks
	}
	return 0, true
}

// table makes the table of everything that can be called. What a capability stands
// for exists only with it (mcp-V2); the handler's own methods go before all others.
func (h *Handler) table(methods Methods) map[string]entry {
	t := make(map[string]entry)
	add := func(name string, era Era, serve Method) {
		t[name] = entry{name: name, era: era, cacheable: cacheableMethod(name), serve: serve}
	}
	for name, m := range methods {
		if era, ok := h.o.Capabilities.declared(name); ok {
			add(name, era, m)
		}
	}
	for _, own := range [...]string{
		"initialize", // see begin
		"logging/setLevel", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe",
	} {
		delete(t, own)
	}
	add("ping", Legacy, pong)
	add("server/discover", Modern, h.serveDiscover)
	if h.o.Capabilities.Logging {
		add("logging/setLevel", Legacy, h.setLevel)
	}
	if h.o.Hub != nil {
		add("subscriptions/listen", Modern, h.listen)
	}
	if h.subscribes() {
		add("resources/subscribe", Legacy, h.subscribe)
		add("resources/unsubscribe", Legacy, h.unsubscribe)
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
func (e *envelope) said() string {
	if e.response {
		return "response"
	}
	return knownNotification(e.method)
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
	Tools       *listCapability      `json:"tools,omitempty"`
	Prompts     *listCapability      `json:"prompts,omitempty"`
	Resources   *resourcesCapability `json:"resources,omitempty"`
	Completions *struct{}            `json:"completions,omitempty"`
	Logging     *struct{}            `json:"logging,omitempty"`
	Extensions  map[string]struct{}  `json:"extensions,omitempty"`
}

type listCapability struct {
	ListChanged bool `json:"listChanged"`
}

type resourcesCapability struct {
	Subscribe   bool `json:"subscribe"`
	ListChanged bool `json:"listChanged"`
}

// declare returns what a revision's clients are told that the server can do.
func (h *Handler) declare(revision string) (c capabilities) {
	o, changing := h.o.Capabilities, h.changing()
	if o.Tools {
		c.Tools = &listCapability{changing&ToolsList != 0}
	}
	if o.Prompts {
		c.Prompts = &listCapability{changing&PromptsList != 0}
	}
	if o.Resources {
		c.Resources = &resourcesCapability{h.subscribes(), changing&ResourcesList != 0}
	}
	if o.Completions && revision >= revision20250326 { // the first that declares them
		c.Completions = &struct{}{}
	}
	if o.Logging {
		c.Logging = &struct{}{}
	}
	if o.Tasks && revision == revision20260728 {
		c.Extensions = map[string]struct{}{extensionTasks: {}}
	}
	return c
}

// describe serializes what the server says of itself: it is the same for everyone.
func (h *Handler) describe() {
	info := implementation{Name: h.o.Name, Title: h.o.Title, Version: h.o.Version}
	h.serverMeta = members(map[string]any{keyServerInfo: info})
	h.discover = members(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
		Instructions      string       `json:"instructions,omitempty"`
	}{Revisions(), h.declare(revision20260728), h.o.Instructions})
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
		}{revision, h.declare(revision), info, h.o.Instructions}))
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
	if err := x.agree(e); err != nil {
		return err
	}
	x.welcome()
	return nil
}

// agree makes the session that initialize asks for. The client does not know of it yet.
func (x *exchange) agree(e *envelope) *Error {
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
	return nil
}

// welcome answers initialize with the session that was agreed on.
func (x *exchange) welcome() {
	x.out.w.Header().Set(headerSession, x.h.sealer.seal(x.req.Principal, x.session))
	_ = x.reply.Result(Chunk{Bytes: x.h.initialize[x.session.revision]}) // the connection's error; there is nobody left to tell
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

// need refuses a request that lacks what its method is about.
func (m *entry) need(r *Request) *Error {
	switch m.name {
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		if r.URI == "" {
			return InvalidParams("params.uri is missing: it must be the URI of a resource")
		}
	case "tasks/get", "tasks/update", "tasks/cancel":
		if !r.Client.Has(ClientTasks) {
			return missing(ClientTasks)
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
	if r.Era == Legacy {
		e.Code = CodeResourceNotFound
	}
	return e
}
