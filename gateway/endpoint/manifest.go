package endpoint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
)

// manifestVersion is the version of the manifest's format.
const manifestVersion = "1.0"

// manifestBody describes the gateway to clients that have not connected by MCP yet.
type manifestBody struct {
	SchemaVersion    string                `json:"schema_version"`
	Name             string                `json:"name"`
	Title            string                `json:"title"`
	Description      string                `json:"description"`
	Version          string                `json:"version"`
	LastUpdated      time.Time             `json:"last_updated"`
	ProtocolVersions []string              `json:"protocol_versions"`
	Transports       []manifestTransport   `json:"transports"`
	Capabilities     manifestCapabilities  `json:"capabilities"`
	Authorization    ManifestAuthorization `json:"authorization"`
	Tools            []manifestTool        `json:"tools"`
	Prompts          []json.RawMessage     `json:"prompts,omitempty"` // as listed by prompts/list
}

type manifestTransport struct {
	Type string `json:"type"`
	URL  string `json:"url,omitempty"` // "" if public_url is not set
}

type manifestCapabilities struct {
	Tools         manifestList    `json:"tools"`
	Resources     manifestWatched `json:"resources"`
	Prompts       manifestList    `json:"prompts"`
	Callback      bool            `json:"callback"`      // jobs outlive calls, and callers can request a webhook
	Notifications []string        `json:"notifications"` // notifications that clients may subscribe to
}

// manifestList describes a list.
type manifestList struct {
	ListChanged bool `json:"list_changed"`
}

// manifestWatched describes resources.
type manifestWatched struct {
	ListChanged bool `json:"list_changed"`
	Subscribe   bool `json:"subscribe"`
}

// ManifestAuthorization describes the authorization of callers. The accepted issuers are in the protected resource metadata of
// RFC 9728.
type ManifestAuthorization struct {
	Required          bool            `json:"required"`
	MetadataURL       string          `json:"metadata_url,omitempty"`
	ProtectedResource json.RawMessage `json:"protected_resource,omitempty"`
}

type manifestTool struct {
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Description string              `json:"description"`
	InputSchema json.RawMessage     `json:"input_schema"`
	Returns     manifestReturns     `json:"returns"`
	Annotations manifestAnnotations `json:"annotations"`
	Example     *manifestExample    `json:"example,omitempty"`
}

type manifestReturns struct {
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of structuredContent
}

type manifestAnnotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

type manifestExample struct {
	Arguments json.RawMessage `json:"arguments"`
}

// manifest serves the description of the gateway. It differs by the permissions of the caller, and each variant is serialized at
// its first request. It is safe for concurrent use.
type manifest struct {
	endpoint   *Endpoint  // the main one
	resources  []string   // the endpoint under each public URL; none if no URL is known
	urls       publicURLs // by the Host of a request
	version    string     // of the program
	info       mcp.ServerInfo
	updated    time.Time   // when the tools last changed
	visible    *visibility // nil if no token is required
	promptSets *auth.Views // the scopes that prompts need and callers have been granted; nil if no token is required

	mu       sync.Mutex
	variants map[manifestKey]func() *servedManifest
}

// manifestKey identifies a class of callers with the same manifest, at one public URL.
type manifestKey struct {
	tools, prompts auth.View
	url            int
}

// maxManifests bounds the cached manifests; any other is built for each request.
const maxManifests = 64

type servedManifest struct {
	body []byte
	etag string
}

// NewManifest returns the manifest of the main endpoint of a configuration, which serves HTTP. updated is when its tools last
// changed.
func NewManifest(e *Endpoint, c *config.Config, version string, updated time.Time) *manifest {
	m := &manifest{endpoint: e, resources: c.Resources(), urls: newPublicURLs(c), info: serverInfo(c, ""), version: version, updated: updated, variants: map[manifestKey]func() *servedManifest{}}
	if e.Guard != nil {
		m.visible, m.promptSets = newVisibility(e.Guard, e.catalog, e.Tools), e.Guard.Views(call.ScopeSets(e.Prompts))
	}
	return m
}

// variant returns the manifest at a public URL for a caller, which is nil without a token. It contains the tools that the caller may call, whether or not
// tools/list hides the others.
func (m *manifest) variant(url int, caller *auth.Principal) *servedManifest {
	view := manifestKey{url: url} // no scopes
	if m.visible != nil && caller != nil {
		view.tools, view.prompts = m.visible.views.Of(caller), m.promptSets.Of(caller)
	}
	m.mu.Lock()
	build := m.variants[view]
	if build == nil {
		build = sync.OnceValue(func() *servedManifest { return m.build(view) })
		if len(m.variants) < maxManifests {
			m.variants[view] = build
		}
	}
	m.mu.Unlock()
	return build()
}

func (m *manifest) build(view manifestKey) *servedManifest {
	e, resource := m.endpoint.under(view.url), ""
	if len(m.resources) > 0 {
		resource = m.resources[view.url]
	}
	doc := manifestBody{
		SchemaVersion: manifestVersion, Name: m.info.Name, Title: m.info.Title,
		Description: cmp.Or(m.info.Description, "REST services as tools, by way of their OpenAPI documents."),
		Version:     m.version, LastUpdated: m.updated.UTC().Truncate(time.Second), ProtocolVersions: mcp.Revisions(),
		Transports: []manifestTransport{{Type: "streamable-http", URL: resource}},
		Capabilities: manifestCapabilities{
			Tools: manifestList{ListChanged: true}, Resources: manifestWatched{ListChanged: true, Subscribe: true}, Prompts: manifestList{ListChanged: true},
			Callback: e.AllowsCallerWebhooks,
			Notifications: []string{
				"notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/resources/updated",
				"notifications/prompts/list_changed",
			},
		},
		Tools: []manifestTool{},
	}
	if e.Guard != nil {
		doc.Authorization.Required = true
		if e.Guard.HasMetadata() {
			w := &recorder{header: http.Header{}}
			e.Guard.Metadata().ServeHTTP(w, &http.Request{Method: http.MethodGet})
			doc.Authorization.ProtectedResource = w.body.Bytes()
			doc.Authorization.MetadataURL = schemeAndHost(resource) + e.Guard.MetadataPaths()[0]
		}
	}
	for _, t := range e.catalog.All() {
		if t.Hidden || m.visible != nil && !m.visible.has(view.tools, t) {
			continue
		}
		input, output := t.Published(openapi.ProfileFull)
		tool := manifestTool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: input,
			Returns: manifestReturns{Description: t.Document.Returns, Schema: output}, Annotations: manifestAnnotations(t.Annotations),
		}
		if arguments := t.ExampleCall(); arguments != nil {
			tool.Example = &manifestExample{arguments}
		}
		doc.Tools = append(doc.Tools, tool)
	}
	for _, p := range call.Visible(e.Prompts, func(set int) bool { return m.promptSets == nil || view.prompts.Has(set) }) {
		doc.Prompts = append(doc.Prompts, p.AppendDefinition(nil, true))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil { // schemas and examples are valid JSON
		panic("gateway: manifest: " + err.Error())
	}
	sum := sha256.Sum256(b.Bytes())
	return &servedManifest{body: b.Bytes(), etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`}
}

// schemeAndHost returns the beginning of a URL unchanged, since the identifier of the resource begins with it and is compared
// byte for byte.
func schemeAndHost(text string) string {
	u, err := url.Parse(text)
	if err != nil { // the configuration has parsed it
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// serveManifest returns the handler of GET /.well-known/mcp/manifest, which serves the manifest of the current endpoints. Without
// a token the manifest says how to get one and lists only the tools that need none; an invalid token is rejected as
// everywhere.
func serveManifest(current func() *Table) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		set := current()
		switch {
		case set.Main == nil:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		case set.Manifest == nil:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "GET and HEAD are allowed here", http.StatusMethodNotAllowed)
		default:
			var h http.Handler = set.Manifest
			if guard := set.Main.under(set.Screening.urls.of(r)).Guard; guard != nil && guard.Presents(r) {
				h = guard.Protect(h)
			}
			h.ServeHTTP(w, r)
		}
	}
}

// ServeHTTP responds with the manifest for the caller in the request's context.
func (m *manifest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller := auth.FromContext(r.Context())
	s := m.variant(m.urls.of(r), caller)
	h := w.Header()
	// Caches must revalidate, since a token or a reload changes the manifest; shared caches may not store one that required a
	// token.
	h.Set("Cache-Control", "private, no-cache")
	if caller == nil {
		h.Set("Cache-Control", "public, no-cache")
	}
	h.Add("Vary", "Authorization, "+auth.APIKeyHeader)
	h.Set("ETag", s.etag)
	if matches(r.Header["If-None-Match"], s.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(s.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		// The write deadline allows the minimum rate of all large responses (H7); the server's own timeout is for small ones.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(10 * time.Second * time.Duration(1+len(s.body)/(256<<10))))
		_, _ = w.Write(s.body) // the connection has failed, so no error can be reported
	}
}

// matches reports whether If-None-Match names the entity (RFC 9110 section 13.1.2, weak comparison).
func matches(values []string, etag string) bool {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.Trim(item, " \t"); item == "*" || strings.TrimPrefix(item, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// recorder is a response writer that keeps the response in memory.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
