package config

import (
	"maps"
	"slices"
)

// API is one OpenAPI document and the service that it describes.
type API struct {
	// The OpenAPI document, 2.0 to 3.2, as a URL or as a path relative to the directory of this file. A URL may be that of
	// the page of an API viewer (Swagger UI, ReDoc, …). A directory stands for all documents directly in it (.json, .yaml,
	// .yml), each a separate API with the settings of this entry; added and removed files are noticed.
	Spec Location `yaml:"spec" need:"true"`
	// The directory that must contain the files of the document, symbolic links followed. The document may then refer to
	// files in neighbouring folders (../common/types.yaml), and its author can have any file in the directory read as a
	// part of it. Only for a document from a file.
	Root File `yaml:"root,omitempty" absent:"the document's own directory"`
	// OpenAPI overlays (Overlay Specification 1.0 and 1.1), URLs or paths like spec, at most 32. They are applied in this
	// order to the root file of the document each time it is read, before anything else is made of it. One that can't be
	// read or applied counts as a failure of the document. A URL of another origin than the document's is fetched without
	// a credential.
	Overlays []Location `yaml:"overlays,omitempty" absent:"none"`
	// The name of the API in tool names, rules, logs and metrics: a letter or digit, then letters, digits, _ and -, at
	// most 40. It must be unique. The default consists of the first whole words of the title that fit into 24 characters.
	// It changes with the title, and may change with a release: set a name for an API that rules, approvals (tools.lock)
	// or alerts refer to.
	Name string `yaml:"name,omitempty" reload:"reconnect" absent:"from the document's title"`
	// The base URL of calls. It overrides the document's servers. http or https, no query and no fragment.
	BaseURL *URL `yaml:"base_url,omitempty" absent:"the document's servers, as far as they are trusted"`
	// How often a document from a URL is fetched again; 0s for never. If loading took long, the next fetch comes after 50
	// times that time, if that is more. Files are watched.
	Refresh Duration `yaml:"refresh" reload:"reconnect" default:"5m" min:"100ms" max:"168h" zero:"never"`
	// The credential that the gateway sends, only ever to the origin of base_url, else of the document's URL; also when it
	// fetches a document of that origin. With a document from a file, or allow_servers, base_url is required. It is the
	// default: an operation whose security schemes have their own credentials in credentials gets those.
	Credential *Credential `yaml:"credential,omitempty" reload:"reconnect" absent:"no credential is sent"`
	// Credentials by the name of the security scheme in the document. An operation gets those of its first alternative for
	// which all schemes have one, else credential. They are sent to the same origin as credential.
	Credentials map[string]*Credential `yaml:"credentials,omitempty" reload:"reconnect" absent:"none"`
	// The credential for fetching the document in place of credential, for a document with other access control than its
	// API. It is sent only to the origin of the document's URL, and can't be of type token_exchange. If credential is of
	// that type, the document is fetched without it.
	SpecCredential *Credential `yaml:"spec_credential,omitempty" reload:"reconnect" absent:"credential, if the document has the origin of the API"`
	// Headers of the caller's request that are passed on to the service, at most 32. They are sent where credential is
	// sent. An argument of that name is removed from tools. Headers with credentials, and headers about the origin or
	// destination of a request, can't be passed on. A mapping with from and to, instead of a name, is for the caller's own
	// credential for the service.
	PassHeaders []PassedHeader `yaml:"pass_headers,omitempty" reload:"reconnect" absent:"none"`
	// Headers and query parameters that are added to every request, such as a version or a tenant. They are sent where
	// credential is sent, and not when the document is fetched.
	Request *APIRequest `yaml:"request,omitempty" reload:"reconnect" absent:"none"`
	// Sends the caller's identity to the service, in a header with a JWT that the keys of the root's identity sign: iss,
	// aud, iat, exp, jti, and from the caller's token sub, client_id, scope and, as idp, iss. {} is enough. It is sent
	// where credential is sent.
	Identity *APIIdentity `yaml:"identity,omitempty" reload:"reconnect" absent:"no identity is sent"`
	// The client certificate for the service (mutual TLS). It is used where credential is sent, which must be https.
	ClientCertificate *ClientCertificate `yaml:"client_certificate,omitempty" reload:"reconnect" absent:"none"`
	// The time to fetch the document.
	SpecTimeout Duration `yaml:"spec_timeout" reload:"reconnect" min:"100ms" max:"30s" absent:"limits.spec_timeout"`
	// The share of its operations, in per cent, that the document may lose at once. See limits.max_loss.
	MaxLoss int `yaml:"max_loss,omitempty" reload:"reconnect" min:"1" max:"100" absent:"limits.max_loss"`
	// Which operations become tools.
	Tools APITools `yaml:"tools,omitempty" reload:"reconnect" absent:"all operations"`
	// Makes calls require the scopes of the document's security requirements, in addition to auth.default_scopes. An
	// operation for which a rule sets scopes requires only those. Use it only if callers can get the document's scopes.
	ScopesFromDocument bool `yaml:"scopes_from_document" default:"false"`
	// The caller scopes that stand for a scope of the document. It needs scopes_from_document.
	ScopeMap map[string][]string `yaml:"scope_map,omitempty" absent:"scopes are used unchanged"`
	// Which keywords the published schemas use: full has all of JSON Schema 2020-12 that the document needs, portable only
	// those that every known model and client accepts. Argument names and validation are the same.
	SchemaProfile SchemaProfile `yaml:"schema_profile" default:"full"`
	// Whether tools have an output schema: loose gives one that matches every response of the documented shape, off gives
	// none.
	OutputSchemas OutputSchemas `yaml:"output_schemas" default:"loose"`
	// How a JSON response is returned: both as compact text and as structuredContent, text only, or structured with a
	// short text beside it. A response without structuredContent is always returned as text.
	Answers Answers `yaml:"answers" default:"both"`
	// Returns large or binary responses as links to resources that the client reads when it needs them.
	Links *Links `yaml:"links,omitempty" reload:"reconnect" absent:"all answers are given as they are"`
	// Response headers that are returned besides those that the document declares, ETag, Link, Location and Retry-After,
	// at most 32: X-Total-Count. They are in _meta and in the text for the model. Cookies and other credentials, and
	// headers that name servers, are never returned.
	AnswerHeaders []string `yaml:"answer_headers,omitempty" absent:"none"`
	// How an HTML response is returned: raw unchanged, text converted to readable text.
	HTML HTML `yaml:"html" default:"raw"`
	// Removes characters from responses that a person does not see but a model reads: control characters, terminal escape
	// sequences, bidirectional controls, zero-width characters, tags. Error responses are always sanitized.
	Clean bool `yaml:"clean" default:"false"`
	// Values for the variables of the document's servers. A variable with an enum accepts only its values.
	ServerVariables map[string]string `yaml:"server_variables,omitempty" absent:"the document's defaults"`
	// The path parameters whose values may contain slashes, such as a path in a repository. A bare name sends each slash
	// unchanged; a mapping of name and as says how. The segments . and .. are still rejected.
	SlashParameters []SlashParameter `yaml:"slash_parameters,omitempty" absent:"none: slashes are rejected"`
	// Arguments that clients add to calls, in place of tools.drop_arguments; [] drops none. The names follow the same
	// rules.
	DropArguments []string `yaml:"drop_arguments,omitempty" reload:"reconnect" absent:"tools.drop_arguments"`
	// The total time of a call, which then also limits the wait for the response header in place of
	// limits.first_byte_timeout. A rule's timeout overrides it.
	Timeout Duration `yaml:"timeout,omitempty" reload:"reconnect" min:"1ms" max:"1h" absent:"limits.timeout"`
	// The maximum number of concurrent calls.
	MaxInFlight int `yaml:"max_in_flight" reload:"reconnect" min:"1" max:"100000" absent:"limits.max_in_flight"`
	// The maximum number of further calls that wait in the queue.
	MaxQueued int `yaml:"max_queued" reload:"reconnect" min:"0" max:"100000" absent:"limits.max_queued"`
	// The maximum time that a call waits in the queue.
	QueueTimeout Duration `yaml:"queue_timeout" reload:"reconnect" min:"1ms" max:"1m" absent:"limits.queue_timeout"`
	// The circuit breaker: when a failing service gets no calls for a while; off for never.
	Breaker Breaker `yaml:"breaker" reload:"reconnect" absent:"the defaults of its keys"`
	// How often a failed request is retried; off for never. See resilience.md for which requests are.
	Retries Retries `yaml:"retries" reload:"reconnect" absent:"the defaults of its keys"`
	// Which redirects of the service are followed: none, or, with same_origin, 307 and 308 to the origin that was called,
	// with the same method, body and credential. At most 5 in a call, below the base URL, and not to a path of another
	// operation of the document, which may have its own rules. They share the deadline of the call. A redirect that is not
	// followed is reported.
	FollowRedirects FollowRedirects `yaml:"follow_redirects,omitempty" absent:"off"`
	// The maximum bytes of a response, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" reload:"reconnect" min:"1KiB" max:"1GiB" absent:"limits.max_answer"`
	// The rate limit for calls of the API by clients, for all its tools together.
	Rate *CallRate `yaml:"rate,omitempty" reload:"reconnect" absent:"any"`
	// A file with PEM certificates that are trusted for this API instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" reload:"reconnect" absent:"the system's certificates"`
	// Servers, besides the document's own origin, to which a document from a URL may send calls: scheme://host[:port].
	AllowServers []Origin `yaml:"allow_servers,omitempty" absent:"none"`
	// Uses the extensions of the document's operations that correspond to settings of rules, such as x-mcp-confirm. They
	// act as rules before all others, so rules override them. The author of the document then decides about these
	// settings. Operations with x-internal: true or x-mcp: {enabled: false} don't become tools.
	TrustExtensions bool `yaml:"trust_extensions" default:"false"`
	// Origins, besides the document's own, from which the document may reference parts: scheme://host[:port].
	AllowRefs []Origin `yaml:"allow_refs,omitempty" absent:"none"`
	// Networks (CIDR) or addresses that every host of this API may have. Without it, hosts that this file names may have
	// any address except link-local ones and those of cloud metadata services, and all others need public ones. A
	// link-local or metadata address is allowed only by an entry for exactly that address, such as 169.254.169.254, and
	// not by a wider network.
	AllowAddresses []Network `yaml:"allow_addresses,omitempty" reload:"reconnect" absent:"none"`

	directory  bool // see FromDirectory
	discovered bool // see IsDiscovered
}

// APITools says which operations of an API become tools.
type APITools struct {
	// Only operations that one of these selectors matches become tools.
	Include Selectors `yaml:"include,omitempty" absent:"all operations"`
	// Operations that one of these selectors matches don't become tools. It overrides include.
	Exclude Selectors `yaml:"exclude,omitempty" absent:"none"`
}

// AllCredentials returns all credentials of the API, by their key below it: credential, those of credentials by the names
// of their schemes, spec_credential.
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
	add("spec_credential", a.SpecCredential)
	return keys, credentials
}

// Exchanges reports whether calls of the API may need the token of their caller, for a token exchange.
func (a *API) Exchanges() bool {
	_, all := a.AllCredentials()
	return slices.ContainsFunc(all, func(c *Credential) bool { return c.Type == CredentialTokenExchange })
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

// Personal says what makes the answers of an API those of their callers, as a key of its entry; "" if nothing does.
func (a *API) Personal() string {
	switch {
	case len(a.PassHeaders) > 0:
		return "pass_headers"
	case a.Identity != nil:
		return "identity"
	case a.Exchanges():
		return "a credential of type token_exchange"
	case len(a.Request.Claims()) > 0:
		return "request with a claim"
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

// FromDirectory reports whether the entry stands for one file of a directory that the configuration gives as spec. Such a
// file need not be a document: it may be a part that documents refer to.
func (a *API) FromDirectory() bool { return a.directory }
