package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// serverInfo is the server's description, serialized as it is sent to all clients. It is immutable.
type serverInfo struct {
	info         ServerInfo
	instructions string

	meta       []byte   // members of the _meta of a stateless result: the name, the title and the version, since each result has them
	whole      []byte   // members of the _meta of the result of server/discover
	discover   []byte   // members of the result of server/discover, without the instructions
	initialize [][]byte // members of the result of initialize, by index of legacyRevisions, without the instructions
}

// ServerInfo is the identity of a server. Clients of each revision get the members that it defines: Title from 2025-06-18
// on; Description, Website and Icons from 2025-11-25 on.
type ServerInfo struct {
	// Name is for programs, Title for users; it may be empty.
	Name, Title string
	// Description says what the server is for; it may be empty.
	Description string
	// Website is the URL of a page about the server; it may be empty.
	Website string
	// Icons are pictures that clients may show.
	Icons []Icon
}

// Icon is a picture of a server (2025-11-25 schema, Icon).
type Icon struct {
	// Src is an https or data URL.
	Src string `json:"src"`
	// MIMEType is the type of the picture; "" if it is unknown.
	MIMEType string `json:"mimeType,omitempty"`
	// Sizes are the sizes that it is for, such as 48x48 and any; none stands for any.
	Sizes []string `json:"sizes,omitempty"`
	// Theme is the background that it is for, light or dark; "" for both.
	Theme string `json:"theme,omitempty"`
}

// SetServerInfo changes the identity of the server and Instructions of [Options] for clients that initialize or discover from now on.
// Sessions and calls in progress go on. It is safe for concurrent use.
func (h *Handler) SetServerInfo(identity ServerInfo, instructions string) {
	if now := h.serverInfo.Load(); now != nil && reflect.DeepEqual(now.info, identity) && now.instructions == instructions {
		return
	}
	n := &serverInfo{info: identity, instructions: instructions}
	info := implementation{Name: identity.Name, Title: identity.Title, Version: h.o.Version}
	whole := info
	whole.Description, whole.WebsiteURL, whole.Icons = identity.Description, identity.Website, identity.Icons
	n.meta = objectMembers(map[string]any{keyServerInfo: info})
	n.whole = objectMembers(map[string]any{keyServerInfo: whole})
	n.discover = objectMembers(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
	}{Revisions(), h.serverCapabilities(revision20260728)})
	for _, revision := range legacyRevisions {
		info := info
		switch {
		case revision < revision20250618: // the first with titles
			info.Title = ""
		case revision >= revision20251125: // the first with the others
			info = whole
		}
		n.initialize = append(n.initialize, objectMembers(struct {
			ProtocolVersion string         `json:"protocolVersion"`
			Capabilities    capabilities   `json:"capabilities"`
			ServerInfo      implementation `json:"serverInfo"`
		}{revision, h.serverCapabilities(revision), info}))
	}
	h.serverInfo.Store(n)
}

// connect returns the instructions for a client that connects.
func (h *Handler) connect(ctx context.Context, req *Request) (string, error) {
	if n := len(req.Query()); n > MaxQuery {
		return "", httpError(http.StatusBadRequest, "the query of the URL has %d bytes: at most %d are allowed", n, MaxQuery)
	}
	own := h.serverInfo.Load().instructions
	if h.o.Connect == nil {
		return own, nil
	}
	return h.o.Connect(ctx, req, own)
}

// withInstructions returns the members of a result with the instructions, if there are any.
func withInstructions(members []byte, instructions string) []Chunk {
	if instructions == "" {
		return []Chunk{{Bytes: members}}
	}
	return []Chunk{{Bytes: members}, {Bytes: []byte(`,"instructions":"`)}, {Bytes: []byte(instructions), Escape: true}, {Bytes: []byte(`"`)}}
}

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

// implementation is an Implementation object.
type implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
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

// serverCapabilities returns the capabilities that are declared to clients of a revision.
func (h *Handler) serverCapabilities(revision string) (c capabilities) {
	o, changing := h.o.Capabilities, h.observableLists()
	if o.Tools {
		c.Tools = &listCapability{changing&ToolsList != 0}
	}
	if o.Prompts {
		c.Prompts = &listCapability{changing&PromptsList != 0}
	}
	if o.Resources {
		c.Resources = &resourcesCapability{h.supportsResourceSubscriptions(), changing&ResourcesList != 0}
	}
	if o.Completions && revision >= revision20250326 { // the first that declares them
		c.Completions = &struct{}{}
	}
	if o.Logging {
		c.Logging = &struct{}{}
	}
	for name, declared := range map[string]bool{extensionSkills: o.Skills, extensionTasks: o.Tasks} {
		if declared && revision == revision20260728 {
			if c.Extensions == nil {
				c.Extensions = map[string]struct{}{}
			}
			c.Extensions[name] = struct{}{}
		}
	}
	return c
}

// objectMembers serializes an object without its braces.
func objectMembers(object any) []byte {
	b, err := json.Marshal(object)
	if err != nil { // only types of this file are passed, and they marshal
		panic("mcp: " + err.Error())
	}
	return slices.Clip(b[1 : len(b)-1])
}
