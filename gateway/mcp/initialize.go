package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// serverInfo is the server's description, serialized as it is sent to all clients. It is immutable.
type serverInfo struct {
	title, instructions string

	meta       []byte   // members of the _meta of a stateless result
	discover   []byte   // members of the result of server/discover, without the instructions
	initialize [][]byte // members of the result of initialize, by index of legacyRevisions, without the instructions
}

// SetServerInfo changes Title and Instructions of [Options] for clients that initialize or discover from now on.
// Sessions and calls in progress go on. It is safe for concurrent use.
func (h *Handler) SetServerInfo(title, instructions string) {
	if now := h.serverInfo.Load(); now != nil && now.title == title && now.instructions == instructions {
		return
	}
	n := &serverInfo{title: title, instructions: instructions}
	info := implementation{Name: h.o.Name, Title: title, Version: h.o.Version}
	n.meta = objectMembers(map[string]any{keyServerInfo: info})
	n.discover = objectMembers(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
	}{Revisions(), h.serverCapabilities(revision20260728)})
	for _, revision := range legacyRevisions {
		info := info
		if revision < revision20250618 { // the first with titles
			info.Title = ""
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

// implementation is an Implementation object.
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
	if o.Tasks && revision == revision20260728 {
		c.Extensions = map[string]struct{}{extensionTasks: {}}
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
