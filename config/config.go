package config

import (
	"errors"
	"slices"
	"strings"
)

// The field tags of the types in this package are read by decode.go and by the test that writes the reference:
//
//	yaml     the key
//	default  the value when the key is absent, written as in the file
//	absent   what happens when the key is absent and there is no such value (for the reference only)
//	min, max bounds of a number, duration or size, both allowed
//	need     "true": the key must be given
//	reload   what a change means for a running process, for the keys below, too: live, reconnect, recompile or restart (see reload.go)
//
// The first sentence of a field's comment must make sense without the field's name: it becomes a row of the reference.

// Config is a whole configuration with all defaults applied. It is immutable once loaded and safe for concurrent use.
type Config struct {
	// The public listener: addresses, TLS, sessions and shutdown.
	Server Server `yaml:"server" reload:"live"`
	// The listener for operators: health, readiness, metrics and reload.
	Admin Admin `yaml:"admin" reload:"live"`
	// Authentication and authorization of callers. Without it no token is required, server.listen must be a loopback
	// address, and nothing may indicate that others reach the gateway: neither a server.public_url that is not loopback
	// nor server.trusted_proxies. A reload never removes it.
	Auth *Auth `yaml:"auth,omitempty" reload:"live" absent:"anonymous, on loopback only"`
	// The keys with which the gateway signs the caller identity that it sends to services, for entries in apis with
	// identity.
	Identity *Identity `yaml:"identity,omitempty" reload:"live" absent:"no identity is sent"`
	// The OpenAPI documents whose operations become tools, at least one.
	APIs []API `yaml:"apis" reload:"recompile" need:"true"`
	// Names, approval and confirmation of tools.
	Tools Tools `yaml:"tools" reload:"live"`
	// Settings for the tools that a selector matches. Rules are applied in order, so later rules override earlier ones.
	Rules []Rule `yaml:"rules,omitempty" reload:"live" absent:"none"`
	// Further endpoints, each with a subset of the tools and its own resource identifier and scopes. /mcp has all tools.
	Endpoints []MCPEndpoint `yaml:"endpoints,omitempty" reload:"live" absent:"only /mcp"`
	// Message templates that users pick and fill in.
	Prompts []Prompt `yaml:"prompts,omitempty" reload:"live" absent:"none"`
	// Limits on time, size, rates and concurrency.
	Limits Limits `yaml:"limits" reload:"reconnect"`
	// State that outlives a call, and that replicas share.
	State State `yaml:"state" reload:"restart"`
	// Logs and traces.
	Telemetry Telemetry `yaml:"telemetry" reload:"live"`
	// The audit log: one JSON record for each call, with the caller and the tool. {} is enough.
	Audit *Audit `yaml:"audit,omitempty" reload:"restart" absent:"none"`

	file        string
	places      map[string]position // of the keys that the file gives
	files       []string
	directories []directory
	promptDirs  []directory
	entries     []int    // of the file, for each of APIs
	authorities []string // digests of those of clients
}

// Server says where and how clients are served.
type Server struct {
	// The address of the MCP endpoint, host:port. An address that is not loopback needs auth.
	Listen Address `yaml:"listen" reload:"restart" default:"127.0.0.1:8080"`
	// The URL under which clients reach the gateway. The resource identifier of tokens (RFC 9728) is this URL followed by
	// /mcp; it is never derived from a request. https, or http for a loopback host; no query and no fragment.
	PublicURL *URL `yaml:"public_url,omitempty" absent:"http:// (https:// with tls) and server.listen, if that is loopback"`
	// The gateway's own certificate. Without it the listener serves plain HTTP, which is for loopback and for a proxy that
	// terminates TLS.
	TLS *TLS `yaml:"tls,omitempty" reload:"restart" absent:"plain HTTP"`
	// Networks (CIDR) or addresses of the proxies in front of the gateway. The client address is taken from their
	// X-Forwarded-For or Forwarded header (RFC 7239), from right to left up to the first address that is not in this list.
	// It is used for logs and limits, and never for authorization.
	TrustedProxies []Network `yaml:"trusted_proxies,omitempty" absent:"none: the address of the TCP peer is used"`
	// Keys that seal session ids and other handles: the first seals, all open, so keys can be rotated. At least 32
	// characters each. Replicas must share them. Without keys each process generates its own at start.
	SealKeys []Secret `yaml:"seal_keys,omitempty" absent:"random at each start"`
	// A file with a key that replaces seal_keys. The gateway creates it at its first start, readable only by its own user,
	// and sessions survive a restart if the file does. An unusable file is renamed and a new one created. It is for a
	// single process, and can't be in state_dir, which contains no secrets. It excludes seal_keys.
	SealKeyFile File `yaml:"seal_key_file,omitempty" absent:"seal_keys"`
	// Instructions for models about the tools as a whole, at most 4096 bytes. Clients may add them to the model's context.
	Instructions string `yaml:"instructions,omitempty" absent:"none"`
	// Accepted values of the Host header besides the host of public_url, that of listen and, on a loopback address,
	// localhost, 127.0.0.1 and [::1]. A host without a port matches every port.
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none"`
	// Accepted values of the Origin header (scheme://host[:port], compared exactly) besides the origin of public_url.
	// Browser extensions and desktop programs have their own schemes: chrome-extension://ID, tauri://localhost. Requests
	// without the header do not come from a browser page and need no entry.
	AllowedOrigins []CallerOrigin `yaml:"allowed_origins,omitempty" absent:"none"`
	// The maximum number of entries on one page of tools/list, resources/list, resources/templates/list and prompts/list.
	// Some clients read only the first page.
	PageSize int `yaml:"page_size" default:"2000" min:"1" max:"10000"`
	// The time of silence after which an event stream gets a comment, so that proxies don't close it; 0s for never.
	KeepAlive Duration `yaml:"keep_alive" default:"15s" min:"100ms" max:"1h" zero:"never"`
	// The time that the gateway continues to serve after a stop signal, while it reports itself as not ready. Ctrl-C at a
	// terminal skips it.
	ShutdownDelay Duration `yaml:"shutdown_delay" default:"5s" min:"0s" max:"10m"`
	// The time that running calls have after shutdown_delay before they are cancelled.
	DrainTimeout Duration `yaml:"drain_timeout" default:"25s" min:"0s" max:"1h"`
	// The effect of a closed connection on a running call of a client of a revision before 2026-07-28: cancel stops the
	// upstream call if its method is safe (RFC 9110), finish lets all calls complete, as those revisions specify. Calls of
	// newer clients are always cancelled.
	LegacyDisconnect Disconnect `yaml:"legacy_disconnect" default:"cancel"`
	// Handling of requests of a revision before 2026-07-28 without a session, from clients that keep none and from curl:
	// allow answers tools/list, tools/call and ping, in the revision of the MCP-Protocol-Version header, else 2025-03-26;
	// a call that needs the user is handled as for a client that can't be asked. refuse requires initialize first. Host,
	// Origin, Content-Type and tokens are checked in either case.
	Sessionless Sessionless `yaml:"sessionless,omitempty" absent:"allow without auth, public_url and trusted_proxies; else refuse"`
	// Serves the HTTP+SSE transport of 2024-11-05 for clients that support nothing else: at /sse and /messages, and for a
	// GET of /mcp without a session. Such a session lives in one process, so replicas need a proxy with sticky sessions.
	OldTransport bool `yaml:"old_transport" reload:"restart" default:"false"`
	// Serves a manifest at /.well-known/mcp/manifest and /manifest, for directories and agent gateways: a description of
	// the gateway, how to get a token, and the tools that the caller's token allows. Without a token it lists tools only
	// if auth requires none.
	Manifest bool `yaml:"manifest" default:"false"`
	// A directory for the last good document of each API, which is served if the document can't be loaded when the gateway
	// starts. It is created if missing, and processes may share it. It contains nothing secret except what the documents
	// contain. The access that the current configuration grants is recorded there too, so that a start detects a
	// configuration that grants more.
	StateDir File `yaml:"state_dir,omitempty" reload:"restart" absent:"documents are kept only in memory"`
	// When the gateway first reports itself as ready: any when one API is served, tried when one is served and loading
	// each document was tried, successfully or not, all when each is served. It then stays ready whatever happens to
	// single APIs.
	Ready Ready `yaml:"ready" default:"any"`
	// Makes a literal secret in the file an error instead of a warning.
	StrictSecrets bool `yaml:"strict_secrets" default:"false"`
}

// TLS is a certificate and its key, and whose certificates clients must have. All files are read again when they change; connections that are open go on.
type TLS struct {
	// A PEM file with the certificate, followed by the intermediate certificates.
	CertFile File `yaml:"cert_file" need:"true"`
	// A PEM file with the unencrypted private key of the certificate. It may be the same file.
	KeyFile File `yaml:"key_file" need:"true"`
	// A PEM file with CA certificates. A client can connect only with a client certificate that one of them has issued
	// (mutual TLS). Tokens are checked in addition. Assistants on the public Internet have no such certificate, and then
	// can't connect.
	ClientCAFile File `yaml:"client_ca_file,omitempty" absent:"no client certificate is required"`
}

// Admin is the listener for operators.
type Admin struct {
	// The address of the admin listener, host:port. It must differ from server.listen.
	Listen Address `yaml:"listen" reload:"restart" default:"127.0.0.1:9090"`
	// Accepted values of the Host header besides localhost, the host of listen and IP addresses: loopback addresses if
	// listen is one, else all, since Kubernetes probes use the address of the pod. A host without a port matches every
	// port.
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none"`
	// The bearer token that POST /reload and POST /apis/{name}/accept require, at least 16 characters. Without it both are
	// rejected; SIGHUP still reloads.
	Token Secret `yaml:"token,omitempty" absent:"these requests are rejected"`
}

// Auth says who may call. Either Anonymous is true or there is at least one issuer.
type Auth struct {
	// Serves every caller without a token, on any address. It excludes all other keys of auth.
	Anonymous bool `yaml:"anonymous" default:"false"`
	// The authorization servers whose access tokens are accepted.
	Issuers []Issuer `yaml:"issuers,omitempty" absent:"none"`
	// The scopes that a call requires if no rule sets scopes for its operation.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"an error with issuers, unless allow_unscoped is true"`
	// Lets any valid token call operations for which neither default_scopes nor a rule requires a scope.
	AllowUnscoped bool `yaml:"allow_unscoped" default:"false"`
	// Scopes that include other scopes: each key grants the scopes of its list, and what those grant. Whole names are
	// compared, never prefixes.
	Implies map[string][]string `yaml:"implies,omitempty" absent:"none"`
	// Makes tools/list show a caller only the tools for which its scopes suffice. A call of another tool is answered like
	// that of an unknown tool, so clients can't request its scopes.
	HideUnauthorized bool `yaml:"hide_unauthorized" default:"false"`
	// Requires DPoP proofs to contain a nonce of the gateway (RFC 9449 section 9), generated with server.seal_keys. It
	// needs an issuer with dpop.
	DPoPNonce bool `yaml:"dpop_nonce" default:"false"`
}

// Issuer is an authorization server whose access tokens are accepted: JWTs (RFC 9068), or opaque ones that it is asked
// about (RFC 7662).
type Issuer struct {
	// The issuer identifier, compared byte for byte with the iss claim. https, or http for a loopback host.
	Issuer URL `yaml:"issuer" need:"true"`
	// The usual settings for a provider, which other keys override; auth.md describes each preset.
	Preset Preset `yaml:"preset,omitempty" absent:"none: the standards"`
	// The kind of access tokens: jwt are verified with the issuer's keys, opaque ones are introspected at the issuer. At
	// most one issuer may be opaque.
	Tokens TokenKind `yaml:"tokens,omitempty" absent:"jwt, or from the preset"`
	// How opaque tokens are introspected.
	Introspection *Introspection `yaml:"introspection,omitempty" absent:"required for opaque tokens, or from the preset"`
	// Values of the aud claim, of which a token must have at least one.
	Audiences []string `yaml:"audiences" absent:"the resource identifier: public_url + /mcp"`
	// The clients whose tokens are accepted. It replaces the audience check for a token without aud, which some providers
	// issue; if a token has an audience, it must still match.
	ClientIDs []string `yaml:"client_ids,omitempty" absent:"all clients"`
	// Rejects tokens that don't name their client (client_id, azp, cid or appid), as RFC 9068 requires. With many
	// providers this distinguishes an access token from an ID token.
	RequireClient bool `yaml:"require_client,omitempty" absent:"false, or true with a preset that needs it"`
	// Claims that only an ID token has: a token with one of them is rejected.
	IDTokenClaims []IDTokenClaim `yaml:"id_token_claims,omitempty" absent:"all four, or from the preset"`
	// Claims that may contain the scopes, as a space-separated string or as a list; the first that a token has is used. A
	// name that begins with / is a JSON Pointer, such as /realm_access/roles.
	ScopeClaims []string `yaml:"scope_claims,omitempty" absent:"scope and scp, or from the preset"`
	// The maximum time between iat (now, without it) and exp of an accepted token.
	MaxLifetime Duration `yaml:"max_lifetime,omitempty" min:"1m" max:"8760h" absent:"any; a lifetime of more than a day is a warning"`
	// Handling of tokens that are bound to a key of the caller (DPoP, RFC 9449): off rejects them, accept accepts them
	// with a proof and other tokens without one, require accepts only bound tokens.
	DPoP DPoP `yaml:"dpop" default:"off"`
	// Accepted signature algorithms. Symmetric algorithms and none are not allowed.
	Algorithms []Algorithm `yaml:"algorithms" default:"[RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA]"`
	// Accepted values of the typ header besides at+jwt, for servers that don't follow RFC 9068; usually JWT, or none for
	// tokens without the header. ID tokens are still rejected.
	AcceptTyp []string `yaml:"accept_typ,omitempty" absent:"none, or from the preset"`
	// The maximum difference between the clocks of the issuer and of the gateway.
	Skew Duration `yaml:"skew" default:"60s" min:"0s" max:"5m"`
	// A file with PEM certificates that are trusted for this issuer instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
}

// Introspection is how the issuer of opaque tokens is asked about one (RFC 7662).
type Introspection struct {
	// The URL of the introspection endpoint. https, or http for a loopback host.
	Endpoint *URL `yaml:"endpoint,omitempty" absent:"from the issuer's metadata"`
	// The client id of the gateway at the issuer.
	ClientID string `yaml:"client_id,omitempty" absent:"no authentication"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"required with client_id"`
	// How client id and secret are sent (RFC 6749 section 2.3.1).
	ClientAuth IntrospectionAuth `yaml:"client_auth" default:"client_secret_basic"`
	// The maximum introspections per second, with a burst of five times as many. Beyond it, tokens that are not cached get
	// 503.
	Rate int `yaml:"rate" default:"100" min:"1" max:"10000"`
}

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
	// settings.
	TrustExtensions bool `yaml:"trust_extensions" default:"false"`
	// Origins, besides the document's own, from which the document may reference parts: scheme://host[:port].
	AllowRefs []Origin `yaml:"allow_refs,omitempty" absent:"none"`
	// Networks (CIDR) or addresses that every host of this API may have. Without it, hosts that this file names may have
	// any address except link-local ones and those of cloud metadata services, and all others need public ones. A
	// link-local or metadata address is allowed only by an entry for exactly that address, such as 169.254.169.254, and
	// not by a wider network.
	AllowAddresses []Network `yaml:"allow_addresses,omitempty" reload:"reconnect" absent:"none"`

	directory bool // see FromDirectory
}

// APITools says which operations of an API become tools.
type APITools struct {
	// Only operations that one of these selectors matches become tools.
	Include Selectors `yaml:"include,omitempty" absent:"all operations"`
	// Operations that one of these selectors matches don't become tools. It overrides include.
	Exclude Selectors `yaml:"exclude,omitempty" absent:"none"`
}

// Tools says how tools are named.
type Tools struct {
	// Whether tool names begin with the name of their API: auto does so when more than one API is configured.
	Prefix Prefix `yaml:"prefix" default:"auto"`
	// The maximum characters of a tool name. Longer names are cut and end in a hash. Clients add their own prefix, and
	// many have a limit of 64.
	MaxName int `yaml:"max_name" default:"64" min:"24" max:"128"`
	// The file of approved tools, which drawbridge lock writes. With it, a tool that is new, or whose method, path, title,
	// description or schema has changed, is held back until it is approved: it is neither listed nor callable.
	Lock File `yaml:"lock,omitempty" absent:"all tools are served"`
	// Which calls need the user's confirmation if no rule decides it: none, or those of destructive tools, which are all
	// except those with safe methods.
	Confirm Confirm `yaml:"confirm" default:"none"`
	// What happens to such a call if its client can't ask the user: it is refused or allowed.
	Unconfirmed Unconfirmed `yaml:"unconfirmed" default:"refuse"`
	// The scopes with which a caller is never asked, such as a caller without a user. It needs auth.issuers.
	UnconfirmedScopes []string `yaml:"unconfirmed_scopes,omitempty" absent:"every caller is asked"`
	// Allows inputs of the kinds sample and roots, which the protocol has deprecated (SEP-2577), for clients that support
	// nothing else.
	DeprecatedInputs bool `yaml:"deprecated_inputs" default:"false"`
	// Arguments that clients add to calls, such as toolCallId and sessionId: they are removed from the arguments of
	// tools/call before validation, and are not sent to the service. An argument that the tool declares is kept. Exact
	// names, at most 64 of 128 bytes each.
	DropArguments []string `yaml:"drop_arguments,omitempty" absent:"none"`
	// The origins to which the gateway sends a webhook when a job has ended, if the call requested it with a URL in its
	// _meta under drawbridge/callbackUrl. https, or http for a loopback host. Private addresses are allowed.
	CallbackURLs []Origin `yaml:"callback_urls,omitempty" absent:"no webhooks"`
	// The key that signs these webhooks (HMAC-SHA256), at least 16 bytes.
	CallbackSecret Secret `yaml:"callback_secret,omitempty" absent:"required with callback_urls"`
}

// Rule changes the tools that it matches.
type Rule struct {
	// Which operations the rule applies to.
	Match Selectors `yaml:"match" need:"true"`
	// The settings, at least one.
	Set Settings `yaml:"set" need:"true"`
}

// Settings is what a [Rule] changes of a tool. A zero field leaves things as they are.
type Settings struct {
	// The tool's name, in place of the generated one: letters, digits, _ and -, at most tools.max_name.
	Name string `yaml:"name,omitempty" absent:"from operationId, else from method and path"`
	// The tool's title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"from the operation's summary"`
	// The tool's description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"from the operation's summary and description"`
	// The scopes that a call requires, in place of auth.default_scopes. An empty list needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes"`
	// Arguments that clients of 2026-07-28 also send in the header Mcp-Param-NAME, so that proxies can route calls by
	// them: the name of the header for each argument. A call whose header differs from its body is rejected. Only strings,
	// integers and booleans can be sent, and secrets should not be: proxies log headers. {} overrides earlier rules.
	ParamHeaders map[string]string `yaml:"param_headers,omitempty" absent:"none"`
	// A condition that a call must meet besides its scopes: an expression of the Common Expression Language over claims,
	// principal, tool and args, at most 4096 bytes. If it can't be evaluated the call is rejected. It needs auth.issuers.
	Condition string `yaml:"condition,omitempty" absent:"none"`
	// Whether a call needs the user's confirmation, which is requested when the arguments are valid.
	Confirm *bool `yaml:"confirm,omitempty" absent:"tools.confirm"`
	// Questions to the user, or the client, before a call is made, in the order of the steps. The tool then does not
	// require the arguments that they ask for. [] overrides earlier rules and the document.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing"`
	// The total time of a call, which then also limits the wait for the response header in place of
	// limits.first_byte_timeout.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"the API's timeout"`
	// Whether a request may be sent again if the outcome of the first is unknown. A request that the service has certainly
	// not received is sent again in any case.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"as RFC 9110 defines for the method"`
	// Sends an idempotency key with each call, by which the service recognizes a repeated request, so that it may be sent
	// again: a random UUID in the header Idempotency-Key, or in the header named here. false overrides earlier rules.
	IdempotencyKey KeyHeader `yaml:"idempotency_key,omitempty" absent:"none"`
	// The rate limit for calls of the tool by clients. off overrides earlier rules.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any"`
	// Makes a GET operation a resource that clients can read, or a resource template if its URI has variables. true means
	// {}; false means none and overrides earlier rules.
	Resource *Resource `yaml:"resource,omitempty" absent:"none"`
	// Where the events of a streamed response have the progress of the call, for clients that request it. false overrides
	// earlier rules and the document.
	Progress *Progress `yaml:"progress,omitempty" absent:"the defaults of its keys"`
	// How the gateway follows a job that the call begins: a response with status 202, or any 2xx response in which the
	// job's URL is found. true means {}. false overrides earlier rules and the document, and no response begins a job
	// then.
	Job *Job `yaml:"job,omitempty" absent:"automatic detection, if the response has status 202 and a status URL"`
	// Caches responses of GET and HEAD in memory, for each caller separately, as far as the service's headers allow (RFC
	// 9111). true means {}; false means none and overrides earlier rules.
	Cache *Cache `yaml:"cache,omitempty" absent:"no caching"`
	// Whether invisible characters are removed from the responses.
	Clean *bool `yaml:"clean,omitempty" absent:"the API's clean"`
	// Fields that are redacted from every response of the operation before any other processing. A list means fields. The
	// fields of all rules and documents are combined, and none is removed by another.
	SensitiveFields *SensitiveFields `yaml:"sensitive_fields,omitempty" absent:"no redaction"`
}

// MCPEndpoint is a part of the tools under a URL of its own.
type MCPEndpoint struct {
	// The name: its URL is public_url and /mcp/NAME, which is also the resource identifier of its tokens. A letter or digit,
	// then letters, digits, _ and -, at most 40.
	Name string `yaml:"name" need:"true"`
	// Which operations are its tools. They have the same names as on /mcp.
	Match Selectors `yaml:"match,omitempty" absent:"those of the API that has the endpoint's name"`
	// The name that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"Drawbridge"`
	// Instructions for models about the tools as a whole, at most 4096 bytes. Clients may add them to the model's context.
	Instructions string `yaml:"instructions,omitempty" absent:"none"`
	// The scopes that a call requires if no rule sets scopes for its operation.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"auth.default_scopes"`
	// The profile to which schemas are at least reduced, whatever schema_profile their APIs have.
	SchemaProfile SchemaProfile `yaml:"schema_profile,omitempty" absent:"that of each API"`
}

// Telemetry is logs and traces.
type Telemetry struct {
	// The URL of an OpenTelemetry collector that accepts traces by OTLP over HTTP. Without a path, /v1/traces is used.
	OTLPEndpoint *URL `yaml:"otlp_endpoint,omitempty" reload:"restart" absent:"no traces"`
	// The minimum level of log records.
	LogLevel LogLevel `yaml:"log_level" default:"info"`
	// The format of log records on standard error.
	LogFormat LogFormat `yaml:"log_format" reload:"restart" default:"json"`
}

// Resource returns the resource identifier of the gateway (RFC 8707, RFC 9728): server.public_url, or http:// (https://
// with server.tls) and server.listen when that is a loopback address, followed by /mcp. It is "" when neither is known, which can only be
// when no issuer is configured.
func (c *Config) Resource() string {
	base := c.publicURL()
	if base == "" {
		return ""
	}
	return base + "/mcp"
}

// Scheme returns what the listener for clients speaks, http or https. A proxy in front of it may speak another.
func (s *Server) Scheme() string {
	if s.TLS != nil {
		return "https"
	}
	return "http"
}

// EndpointResource returns the resource identifier of an endpoint of [Config.Endpoints]; "" where Resource is.
func (c *Config) EndpointResource(name string) string {
	if base := c.Resource(); base != "" {
		return base + "/" + name
	}
	return ""
}

// Has reports whether the operation is a tool of the endpoint.
func (e *MCPEndpoint) Has(s Subject) bool {
	if len(e.Match) == 0 {
		return strings.EqualFold(s.API, e.Name)
	}
	return e.Match.Match(s)
}

// Hosts returns the values of the Host header that are let in: the host of public_url as it stands there (with its
// port, if it has one), the host of server.listen unless it stands for all interfaces, on a loopback address localhost,
// 127.0.0.1 and [::1], and server.allowed_hosts. An entry without a port stands for every port.
func (c *Config) Hosts() []string {
	var hosts []string
	if c.Server.PublicURL != nil {
		hosts = append(hosts, c.Server.PublicURL.URL().Host)
	}
	if c.Server.Listen.Loopback() {
		hosts = append(hosts, "localhost", "127.0.0.1", "[::1]")
	}
	if host := c.Server.Listen.URLHost(); !c.Server.Listen.anyHost() && !slices.Contains(hosts, host) {
		hosts = append(hosts, host)
	}
	for _, host := range c.Server.AllowedHosts {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Hosts returns the names by which the listener is asked for besides localhost: that of listen, unless it stands for all
// interfaces, and allowed_hosts. An entry without a port stands for every port.
func (a *Admin) Hosts() []string {
	hosts := slices.Clone(a.AllowedHosts)
	if !a.Listen.anyHost() {
		hosts = append(hosts, a.Listen.URLHost())
	}
	return hosts
}

// AllowsSessionless reports whether requests of the legacy era are served without a session. Where nothing says so they are on
// the machine of their own user alone: elsewhere a session is one thing more that whoever sends blindly does not have.
func (c *Config) AllowsSessionless() bool {
	if s := &c.Server; s.Sessionless == "" {
		return c.Auth == nil && s.PublicURL == nil && len(s.TrustedProxies) == 0
	}
	return c.Server.Sessionless == SessionlessAllow
}

// Origins returns the values of the Origin header that are let in: the origin of public_url and server.allowed_origins.
func (c *Config) Origins() []string {
	var origins []string
	if c.Server.PublicURL != nil {
		origins = append(origins, c.Server.PublicURL.Origin())
	}
	for _, o := range c.Server.AllowedOrigins {
		if !slices.Contains(origins, o.String()) {
			origins = append(origins, o.String())
		}
	}
	return origins
}

// IsBare reports whether the configuration was not read from a file, but stands for an OpenAPI document or a directory of them.
func (c *Config) IsBare() bool {
	return !slices.Contains(c.files, c.file) || len(c.directories) > 0 && c.directories[0].path == c.file
}

// Files returns the paths of all files that the configuration was made from, apart from the OpenAPI documents: the
// file itself, secret files, certificates, prompts, directories of documents, and those of prompts, which end in a
// separator.  A change of one of them is a reason to load again.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// Wrong returns an error of the value at a key path, such as rules[0].set.condition, with its place in the file: for what
// only those who use the value can find out.
func (c *Config) Wrong(key string, err error) error {
	return wrong(c.file, nearestPlace(c.places, key), key, err)
}

// At returns the place of the value at a key path, or else of the nearest that encloses it, as a warning that has no message yet.
func (c *Config) At(key string) Problem {
	at := nearestPlace(c.places, key)
	return Problem{Severity: Warning, File: c.file, Line: at.line, Column: at.column, Key: key}
}

func wrong(file string, at position, key string, err error) error {
	return errors.New(Problem{File: file, Line: at.line, Column: at.column, Key: key, Message: err.Error()}.String())
}
