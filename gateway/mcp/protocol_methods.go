package mcp

import "context"

// protocolMethod holds the properties of a method in the protocol, whichever package implements it. The zero value is that of an unknown
// method.
type protocolMethod struct {
	// family is the only family that has the method, zero if both have it.
	family RevisionFamily
	// capability is the capability that declares the method; nil if none does.
	capability func(*Capabilities) *bool
	// handshake reports whether the method is part of the handshake or checks the connection.
	handshake bool
	// sessionless reports whether simple clients of the legacy family may call the method without a session.
	sessionless bool
	// cacheable reports whether results must carry caching hints (2026-07-28 utilities/caching).
	cacheable bool
	// asks reports whether the method may ask for input (2026-07-28 patterns/mrtr, Supported Requests).
	asks bool
	// startsTasks reports whether the method may answer with a task.
	startsTasks bool
	// mirrored is the member of params that the header Mcp-Name repeats, or noParam.
	mirrored param
	// check refuses a request without a parameter or a client capability that the method requires; nil if it requires none.
	check func(*Request) *Error
}

// param is a member of params that names what a request is about.
type param uint8

const (
	noParam param = iota
	paramName
	paramURI
	paramTaskID
)

// param returns a member of params; nil if it is absent.
func (e *envelope) param(p param) []byte {
	switch p {
	case paramName:
		return e.name
	case paramURI:
		return e.uri
	case paramTaskID:
		return e.taskID
	case noParam:
	}
	return nil
}

// protocolMethods is the method table of all revisions: a method is one row. A method that has no row is served to both families.
var protocolMethods = map[string]protocolMethod{
	"initialize":      {family: Legacy, handshake: true}, // see exchange.initialize
	"ping":            {family: Legacy, handshake: true, sessionless: true},
	"server/discover": {family: Stateless, handshake: true, cacheable: true},

	"tools/list": {capability: tools, cacheable: true, sessionless: true},
	"tools/call": {capability: tools, mirrored: paramName, asks: true, startsTasks: true, sessionless: true},

	"resources/list":           {capability: resources, cacheable: true},
	"resources/templates/list": {capability: resources, cacheable: true},
	"resources/read":           {capability: resources, cacheable: true, mirrored: paramURI, check: requireURI, asks: true},
	"resources/subscribe":      {family: Legacy, capability: resources, check: requireURI},
	"resources/unsubscribe":    {family: Legacy, capability: resources, check: requireURI},

	"prompts/list": {capability: prompts, cacheable: true},
	"prompts/get":  {capability: prompts, mirrored: paramName, asks: true},

	"completion/complete": {capability: completions},

	// Extension io.modelcontextprotocol/skills (SEP-2640).
	"skills/list": {family: Stateless, capability: skills, cacheable: true},
	"skills/get":  {family: Stateless, capability: skills, cacheable: true, check: requireURI},

	// Extension io.modelcontextprotocol/tasks.
	"tasks/get":    {family: Stateless, capability: tasks, mirrored: paramTaskID, check: requireTask},
	"tasks/update": {family: Stateless, capability: tasks, mirrored: paramTaskID, check: requireTask},
	"tasks/cancel": {family: Stateless, capability: tasks, mirrored: paramTaskID, check: requireTask},

	"logging/setLevel":     {family: Legacy, capability: logging},
	"subscriptions/listen": {family: Stateless},
}

func tools(c *Capabilities) *bool       { return &c.Tools }
func resources(c *Capabilities) *bool   { return &c.Resources }
func prompts(c *Capabilities) *bool     { return &c.Prompts }
func skills(c *Capabilities) *bool      { return &c.Skills }
func completions(c *Capabilities) *bool { return &c.Completions }
func tasks(c *Capabilities) *bool       { return &c.Tasks }
func logging(c *Capabilities) *bool     { return &c.Logging }

func requireURI(r *Request) *Error {
	if r.URI == "" {
		return InvalidParams("params.uri is missing: it must be the URI of a resource")
	}
	return nil
}

func requireTask(r *Request) *Error {
	if !r.Client.Has(ClientTasks) {
		return missingCapability(ClientTasks)
	}
	if r.TaskID == "" {
		return InvalidParams("params.taskId is missing: it must be the id of a task")
	}
	return nil
}

// Capabilities returns the capabilities of the methods, so that none of them is undeclared and no capability is without methods
// (mcp-V2). Logging, which needs no method of the table, is not among them.
func (m Methods) Capabilities() (c Capabilities) {
	for name := range m {
		if declaring := protocolMethods[name].capability; declaring != nil {
			*declaring(&c) = true
		}
	}
	return c
}

// servedMethod is a method that a handler serves.
type servedMethod struct {
	protocolMethod
	name  string
	serve Method
}

// servedMethods returns the methods of a handler by name. Methods of a capability exist only if it is declared (mcp-V2); the
// handler's own methods replace others of their name.
func (h *Handler) servedMethods(methods Methods) map[string]*servedMethod {
	served := make(map[string]*servedMethod)
	add := func(name string, serve Method) {
		served[name] = &servedMethod{protocolMethods[name], name, serve}
	}
	for name, serve := range methods {
		if declaring := protocolMethods[name].capability; declaring == nil || *declaring(&h.o.Capabilities) {
			add(name, serve)
		}
	}
	for _, own := range [...]string{
		"initialize", "logging/setLevel", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe",
	} {
		delete(served, own)
	}
	add("ping", servePing)
	add("server/discover", h.serveServerDiscover)
	if h.o.Capabilities.Logging {
		add("logging/setLevel", h.serveSetLevel)
	}
	if h.o.Broker != nil {
		add("subscriptions/listen", h.serveSubscriptionsListen)
	}
	if h.supportsResourceSubscriptions() {
		add("resources/subscribe", h.serveSubscribe)
		add("resources/unsubscribe", h.serveUnsubscribe)
	}
	return served
}

// servePing answers ping, which only the legacy revisions have.
func servePing(_ context.Context, _ *Request, reply *Reply) error { return reply.Result() }
