package config

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"
)

// API is one OpenAPI document and the service that it describes.
type API struct {
	// The OpenAPI document, 2.0 to 3.2: a URL, or a path relative to this file. The URL of a viewer page (Swagger UI,
	// ReDoc) works too. A directory makes each document in it a separate API.
	Spec Location `yaml:"spec" required:"true" access:"joint: apis"`
	// The directory that must contain all files of the document. Set it if the document refers to files in neighbouring
	// folders (../common/types.yaml).
	Root File `yaml:"root,omitempty" absent:"the document's own directory" access:"grants"`
	// OpenAPI overlays 1.0 or 1.1, URLs or paths, at most 32, applied in this order.
	Overlays []Location `yaml:"overlays,omitempty" absent:"none" access:"joint: overlays" empty:"leave it out, or list an overlay" count:"32: has %d entries; at most %d are allowed"`
	// The API's name in tool names, rules, logs and metrics: unique, letters, digits, _ and -, at most 40. Set it if
	// rules, tools.lock or alerts refer to the API, since the default changes with the title.
	Name string `yaml:"name,omitempty" reload:"reconnect" absent:"from the document's title" access:"joint: apis" is:"api-name"`
	// The base URL of calls, instead of the document's servers: http or https, without query and fragment. Operations
	// with other servers on the origin of the document's keep their path, on the origin of base_url.
	BaseURL *URL `yaml:"base_url,omitempty" absent:"the document's servers, as far as they are trusted" access:"any"`
	// Base URLs of which a claim of the caller's token selects one. Each gets its own connections, and what is sent to
	// base_url.
	BaseURLs *BaseURLs `yaml:"base_urls,omitempty" reload:"reconnect" absent:"none" access:"any" excludes:"base_url: a call goes to one of base_urls"`
	// How often a document from a URL is fetched again; 0s for never. Slow documents are fetched less often. Files are
	// watched.
	Refresh Duration `yaml:"refresh" reload:"reconnect" default:"5m" min:"100ms" max:"168h" zero:"never" access:"none: when documents are read"`
	// The credential for the API. It is sent only to the origin of base_url, else of the document's URL. A document
	// from a file, or allow_servers, requires base_url.
	Credential *Credential `yaml:"credential,omitempty" reload:"reconnect" absent:"no credential is sent" access:"joint: identity"`
	// Credentials by security scheme. An operation gets those of its first alternative whose schemes all have one, else
	// credential.
	Credentials map[string]*Credential `yaml:"credentials,omitempty" reload:"reconnect" absent:"none" access:"joint: identity" empty:"leave it out, or name a security scheme"`
	// Credentials for other origins that operations go to, by scheme://host[:port]. Each must be listed in
	// allow_servers. Without it, calls to another origin than that of the API carry no credential.
	ServerCredentials map[string]*Credential `yaml:"server_credentials,omitempty" reload:"reconnect" absent:"none" access:"joint: identity" empty:"leave it out, or name an origin that allow_servers lists"`
	// The credential for fetching the document, if it differs from credential. It is sent only to the origin of the
	// document's URL, and can't be token_exchange, on_behalf_of or authorization_code.
	SpecCredential *Credential `yaml:"spec_credential,omitempty" reload:"reconnect" absent:"credential, if the document has the origin of the API" access:"none: it is sent to the document's origin only"`
	// Request headers of the caller that are passed on, at most 32. Arguments of these names are removed. A mapping
	// with from and to passes on the caller's own credential for the service.
	PassHeaders []PassedHeader `yaml:"pass_headers,omitempty" reload:"reconnect" absent:"none" access:"joint: passed headers"`
	// Headers and query parameters that are added to every call.
	Request *APIRequest `yaml:"request,omitempty" reload:"reconnect" absent:"none" access:"joint: identity" empty:"leave it out"`
	// Sends the caller's identity to the service as a JWT signed with the keys of identity. {} is enough.
	Identity *APIIdentity `yaml:"identity,omitempty" reload:"reconnect" absent:"no identity is sent" access:"joint: identity" issuers:"needs auth.issuers: without tokens of callers there is nobody to tell of"`
	// The client certificate for the service (mutual TLS), which must use https.
	ClientCertificate *ClientCertificate `yaml:"client_certificate,omitempty" reload:"reconnect" absent:"none" access:"joint: identity"`
	// The time to fetch the document.
	SpecTimeout Duration `yaml:"spec_timeout" reload:"reconnect" min:"100ms" max:"30s" absent:"limits.spec_timeout" access:"none: when documents are read"`
	// Overrides limits.max_loss for this document, in per cent.
	MaxLoss int `yaml:"max_loss,omitempty" reload:"reconnect" min:"1" max:"100" absent:"limits.max_loss" access:"none: a limit on what a document or a registry may lose"`
	// The selection of the operations that become tools.
	Tools APITools `yaml:"tools,omitempty" reload:"reconnect" absent:"all operations" access:"section"`
	// Requires the scopes of the document's security requirements in addition to auth.default_scopes, except where a
	// rule sets scopes.
	ScopesFromDocument bool `yaml:"scopes_from_document" default:"false" access:"restricts; with auth"`
	// The caller scopes that stand for a scope of the document. It needs scopes_from_document.
	ScopeMap map[string][]string `yaml:"scope_map,omitempty" absent:"scopes are used unchanged" access:"joint: scopes of documents" is:"scope" unique:"%q is listed twice"`
	// The keywords in published schemas: compatible is what the converters and APIs of the common model vendors accept,
	// full is all of JSON Schema 2020-12, portable only the few keywords that every known client accepts.
	SchemaProfile SchemaProfile `yaml:"schema_profile" default:"compatible" access:"none: the form of lists"`
	// Whether tools have an output schema: loose matches every response of the documented shape, off omits it.
	OutputSchemas OutputSchemas `yaml:"output_schemas" default:"loose" access:"none: the form of lists"`
	// The form of JSON responses: text and structuredContent (both), text only, or structuredContent with a short text.
	Answers Answers `yaml:"answers" default:"both" access:"none: the form of responses"`
	// Returns large or binary responses as links to resources.
	Links *Links `yaml:"links,omitempty" reload:"reconnect" absent:"limits.max_result_binary applies" access:"none: a link leads to the response that the caller gets anyway"`
	// Further response headers that are returned in _meta and in the text, such as X-Total-Count, at most 32. Cookies
	// and credentials never are.
	AnswerHeaders []string `yaml:"answer_headers,omitempty" absent:"none" access:"grants"`
	// How an HTML response is returned: raw unchanged, text converted to readable text.
	HTML HTML `yaml:"html" default:"raw" access:"none: the form of responses"`
	// Removes invisible characters from responses: control characters, escape sequences, bidirectional controls,
	// zero-width characters, tags. Error responses are always cleaned.
	Clean bool `yaml:"clean" default:"false" access:"none: the form of responses"`
	// Values for the variables of the document's servers. A mapping with claim and allow selects one by the caller's
	// token.
	ServerVariables map[string]*ServerVariable `yaml:"server_variables,omitempty" absent:"the document's defaults" access:"any"`
	// Path parameters whose values may contain slashes. A bare name sends slashes unchanged. The segments . and .. are
	// rejected.
	SlashParameters []SlashParameter `yaml:"slash_parameters,omitempty" absent:"those that the document declares or shows" access:"joint: slashes"`
	// Overrides tools.drop_arguments; [] drops none.
	DropArguments []string `yaml:"drop_arguments,omitempty" reload:"reconnect" absent:"tools.drop_arguments" access:"joint: dropped arguments" count:"64: has %d names, and at most %d are allowed" is:"dropped-argument" unique:"%s is listed twice"`
	// The total time of a call, which then also replaces limits.first_byte_timeout.
	Timeout Duration `yaml:"timeout,omitempty" reload:"reconnect" min:"1ms" max:"1h" absent:"limits.timeout" access:"none: limits bound the cost of a call"`
	// The maximum number of concurrent calls.
	MaxInFlight int `yaml:"max_in_flight" reload:"reconnect" min:"1" max:"100000" absent:"limits.max_in_flight" access:"limit"`
	// The maximum number of further calls that wait in the queue.
	MaxQueued int `yaml:"max_queued" reload:"reconnect" min:"0" max:"100000" absent:"limits.max_queued" access:"none: queued calls don't reach the service"`
	// The maximum time that a call waits in the queue.
	QueueTimeout Duration `yaml:"queue_timeout" reload:"reconnect" min:"1ms" max:"1m" absent:"limits.queue_timeout" access:"none: queued calls don't reach the service"`
	// The circuit breaker, which stops calls to a failing service; off disables it.
	Breaker Breaker `yaml:"breaker" reload:"reconnect" absent:"the defaults of its keys" access:"none: limits bound the cost of a call"`
	// Retries of failed requests; off disables them.
	Retries Retries `yaml:"retries" reload:"reconnect" absent:"the defaults of its keys" access:"none: limits bound the cost of a call"`
	// Which redirects are followed: none, or those within the same origin, below the base URL, at most 5 a call: 307 and 308, and for
	// GET and HEAD 301, 302 and 303 too.
	FollowRedirects FollowRedirects `yaml:"follow_redirects,omitempty" absent:"off" access:"grants: same_origin"`
	// The maximum bytes of a response, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" reload:"reconnect" min:"1KiB" max:"1GiB" absent:"limits.max_answer" access:"none: limits bound the cost of a call"`
	// The rate limit for all calls of the API.
	Rate *CallRate `yaml:"rate,omitempty" reload:"reconnect" absent:"any" access:"limit"`
	// PEM certificates that are trusted for this API instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" reload:"reconnect" absent:"the system's certificates" access:"any" pem:"certificates"`
	// Further origins that servers in the document may have: scheme://host[:port]. An operation with a server
	// on any other origin is skipped.
	AllowServers []Origin `yaml:"allow_servers,omitempty" absent:"none" access:"grants"`
	// Settings of TLS connections to the service, and to the document if it is on the same host and port.
	TLS *ServiceTLS `yaml:"tls,omitempty" reload:"reconnect" absent:"the host of the URL, TLS 1.2" access:"section"`
	// Applies the document's x- extensions that correspond to settings of rules. Rules override them. x-internal: true
	// then excludes an operation.
	TrustExtensions bool `yaml:"trust_extensions" default:"false" access:"any"`
	// Origins, besides the document's own, from which the document may reference parts: scheme://host[:port].
	AllowRefs []Origin `yaml:"allow_refs,omitempty" absent:"none" access:"grants"`
	// The proxy for calls of the API, and for its document and authorization servers unless they have their own: off,
	// environment, or a mapping.
	Proxy *Proxy `yaml:"proxy,omitempty" reload:"reconnect" absent:"the root's proxy" access:"joint: proxy"`
	// The proxy for fetching the document, its overlays, and what it refers to.
	SpecProxy *Proxy `yaml:"spec_proxy,omitempty" reload:"reconnect" absent:"proxy" access:"joint: proxy"`
	// Networks (CIDR) or addresses that hosts of this API may have besides public ones. Hosts that this file names may have
	// private addresses too. A link-local or metadata address needs an entry of its own.
	AllowAddresses []Network `yaml:"allow_addresses,omitempty" reload:"reconnect" absent:"none" access:"grants"`

	include    *Include    // that the API is of; nil for the main file
	directory  bool        // see FromDirectory
	incomplete bool        // see IsIncomplete
	service    ServiceID   // see Service
	claimed    string      // see Claimed
	named      bool        // see TakesSecrets
	path       ServicePath // see ServicePath
}

// APITools selects the operations of an API that become tools.
type APITools struct {
	// Only operations that one of these selectors matches become tools.
	Include Selectors `yaml:"include,omitempty" absent:"all operations" empty:"leave it out, or select something" access:"joint: rules"`
	// Operations that one of these selectors matches don't become tools. It overrides include.
	Exclude Selectors `yaml:"exclude,omitempty" absent:"none" empty:"leave it out, or select something" access:"joint: rules"`
}

// AllCredentials returns all credentials of the API, by their key below it: credential, those of credentials by the names
// of their schemes, those of server_credentials by their origins, spec_credential.
func (a *API) AllCredentials() (keys []string, credentials []*Credential) {
	add := func(key string, c *Credential) {
		if c != nil {
			keys, credentials = append(keys, key), append(credentials, c)
		}
	}
	add("credential", a.Credential)
	for _, name := range slices.Sorted(maps.Keys(a.Credentials)) {
		add("credentials."+name, a.Credentials[name])
	}
	for _, origin := range slices.Sorted(maps.Keys(a.ServerCredentials)) {
		add("server_credentials."+origin, a.ServerCredentials[origin])
	}
	add("spec_credential", a.SpecCredential)
	return keys, credentials
}

// Exchanges reports whether calls of the API may need the token of their caller, for a token exchange.
func (a *API) Exchanges() bool {
	_, all := a.AllCredentials()
	return slices.ContainsFunc(all, func(c *Credential) bool { return c.Type.NeedsCaller() })
}

// HasAccounts reports whether callers have accounts of their own at the service.
func (a *API) HasAccounts() bool {
	_, all := a.AllCredentials()
	return slices.ContainsFunc(all, func(c *Credential) bool { return c.Type == CredentialAuthorizationCode })
}

// PassesCredential reports whether callers send their own credential for the service.
func (a *API) PassesCredential() bool {
	return slices.ContainsFunc(a.PassHeaders, PassedHeader.IsCredential)
}

// sentIn returns the key below the API of what the gateway itself sends in a header, "" for nothing.
func (a *API) sentIn(header string) string {
	if key := a.authenticatedIn(header); key != "" {
		return key
	}
	if name := a.Request.header(header); name != "" {
		return "request.headers." + name
	}
	return ""
}

// authenticatedIn returns the key below the API of the credential or identity that the gateway sends in a header, "" for
// none.
func (a *API) authenticatedIn(header string) string {
	keys, all := a.AllCredentials()
	for i, c := range all {
		if c != a.SpecCredential && slices.ContainsFunc(c.Headers(), func(name string) bool { return sameHeader(name, header) }) {
			return keys[i]
		}
	}
	if a.Identity != nil && sameHeader(a.Identity.HeaderName(), header) {
		return "identity"
	}
	return ""
}

// Personal returns the reason why responses of an API differ between callers, as a key of its entry; "" if nothing does.
func (a *API) Personal() string {
	switch {
	case len(a.PassHeaders) > 0:
		return "pass_headers"
	case a.Identity != nil:
		return "identity"
	case a.Exchanges():
		return "a credential with the caller's token"
	case a.HasAccounts():
		return "a credential of type authorization_code"
	case len(a.Request.Claims()) > 0:
		return "request with a claim"
	case slices.ContainsFunc(a.ServerSelectors(), ServerSelector.IsClaim):
		return "a server that a claim selects"
	}
	return ""
}

// Exposes reports whether the operation becomes a tool.
func (a *API) Exposes(s Subject) bool {
	if len(a.Tools.Include) > 0 && !a.Tools.Include.Match(s) {
		return false
	}
	return !a.Tools.Exclude.Match(s) && !a.Hides(s)
}

// Hides reports whether the document hides the operation from models, and is trusted to do so.
func (a *API) Hides(s Subject) bool { return a.TrustExtensions && s.HiddenBy != "" }

// IsIncomplete reports whether the certificate or the identity of the API is left out, since a check without secrets doesn't have it.
func (a *API) IsIncomplete() bool { return a.incomplete }

// FromDirectory reports whether the entry stands for one file of a directory that the configuration gives as spec. Such a
// file need not be a document: it may be a part that documents refer to.
func (a *API) FromDirectory() bool { return a.directory }

// hint recognizes an API that is only its document.
func (*API) hint(n *yaml.Node, _ string) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return `; write "spec: " before the URL or path of a document`
	}
	return ""
}
