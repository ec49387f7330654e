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
//
// The first sentence of a field's comment must make sense without the field's name: it becomes a row of the reference.

// Config is a whole configuration with all defaults applied. It is immutable once loaded and safe for concurrent use.
type Config struct {
	// Where and how clients are served.
	Server Server `yaml:"server"`
	// The listener for operators: health, readiness, metrics and reload.
	Admin Admin `yaml:"admin"`
	// Who may call. Without it nobody needs a token, server.listen must be a loopback address, and nothing may say that others reach the
	// gateway: neither a server.public_url that is not loopback nor server.trusted_proxies. A reload never drops it.
	Auth *Auth `yaml:"auth,omitempty" absent:"anonymous, on loopback only"`
	// The keys with which the gateway signs what it tells services of callers, for those whose entry in apis has identity.
	Identity *Identity `yaml:"identity,omitempty" absent:"no service is told"`
	// The OpenAPI documents whose operations become tools, at least one.
	APIs []API `yaml:"apis" need:"true"`
	// How tools are named.
	Tools Tools `yaml:"tools"`
	// Changes to the tools that a selector matches. Rules are applied in order, so later rules win.
	Rules []Rule `yaml:"rules,omitempty" absent:"none"`
	// Further endpoints, each with a part of the tools, a resource identifier and scopes of its own. /mcp has all tools.
	Endpoints []MCPEndpoint `yaml:"endpoints,omitempty" absent:"none but /mcp"`
	// Templates of messages that users of clients pick and fill in.
	Prompts []Prompt `yaml:"prompts,omitempty" absent:"none"`
	// Bounds of time and size for every request and document.
	Limits Limits `yaml:"limits"`
	// What outlives a call, and what replicas share.
	State State `yaml:"state"`
	// Logs and traces.
	Telemetry Telemetry `yaml:"telemetry"`
	// The audit log: who called what, in one line of JSON for each call. {} is enough.
	Audit *Audit `yaml:"audit,omitempty" absent:"none"`

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
	Listen Address `yaml:"listen" default:"127.0.0.1:8080"`
	// The URL under which clients reach the gateway. The resource identifier of tokens (RFC 9728) is this URL followed
	// by /mcp; it never comes from a request. https, or http for a loopback host; no query and no fragment.
	PublicURL *URL `yaml:"public_url,omitempty" absent:"http:// (https:// with tls) and server.listen, if that is loopback"`
	// The gateway's own certificate. Without it the listener speaks HTTP in clear, which is for loopback and for a proxy
	// that ends TLS.
	TLS *TLS `yaml:"tls,omitempty" absent:"HTTP in clear"`
	// Networks (CIDR) or addresses of the proxies in front of the gateway. The address of a caller is taken from their
	// X-Forwarded-For or Forwarded header (RFC 7239), from right to left up to the first address that is not in this list.
	// It stands in the log and bounds what one address may cost; it never decides who may call.
	TrustedProxies []Network `yaml:"trusted_proxies,omitempty" absent:"none: the address of the peer counts"`
	// Keys that seal session ids and other handles: the first seals, all open, so keys can be rotated. At least 32
	// characters each. Replicas must share them. Without keys each process makes its own at start.
	SealKeys []Secret `yaml:"seal_keys,omitempty" absent:"random at each start"`
	// A file with a key that takes the place of seal_keys. The gateway makes it when it first starts, readable by its own user
	// alone, and sessions outlive a restart where it is kept. One that can't be used is moved aside and made anew. It is for a single process, and can't
	// be in state_dir, where nothing is secret. It excludes seal_keys.
	SealKeyFile File `yaml:"seal_key_file,omitempty" absent:"seal_keys"`
	// What a model should know of the tools as a whole, at most 4096 bytes. Clients may put it before their model.
	Instructions string `yaml:"instructions,omitempty" absent:"none"`
	// Values of the Host header that are let in besides the host of public_url, that of listen and, on a loopback
	// address, localhost, 127.0.0.1 and [::1]. A host without a port stands for every port.
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none besides"`
	// Values of the Origin header (scheme://host[:port], compared exactly) that are let in besides the origin of
	// public_url. That of a browser's extension or of a desktop program has a scheme of its own: chrome-extension://ID,
	// tauri://localhost. Requests without the header are not from a browser page and need no entry.
	AllowedOrigins []CallerOrigin `yaml:"allowed_origins,omitempty" absent:"none besides"`
	// The most entries on one page of tools/list, resources/list, resources/templates/list and prompts/list. Some clients read the first page only.
	PageSize int `yaml:"page_size" default:"2000" min:"1" max:"10000"`
	// After how much silence an event stream gets a comment, so that no proxy takes it for dead; 0s for never.
	KeepAlive Duration `yaml:"keep_alive" default:"15s" min:"100ms" max:"1h" zero:"never"`
	// After a stop signal: how long the gateway serves on, while reporting itself as not ready. Ctrl-C at a terminal does
	// not wait for it.
	ShutdownDelay Duration `yaml:"shutdown_delay" default:"5s" min:"0s" max:"10m"`
	// After shutdown_delay: how long running calls may take to end before they are cancelled.
	DrainTimeout Duration `yaml:"drain_timeout" default:"25s" min:"0s" max:"1h"`
	// What a closed connection means for a running call of a client of a revision before 2026-07-28: cancel stops the
	// upstream call if its method is safe (RFC 9110), finish lets all calls end, as those revisions have it. Newer
	// clients always cancel.
	LegacyDisconnect Disconnect `yaml:"legacy_disconnect" default:"cancel"`
	// Requests of a revision before 2026-07-28 without a session, as clients that keep none and people with curl send them:
	// allow answers tools/list, tools/call and ping, by the revision of the MCP-Protocol-Version header, else 2025-03-26; a
	// call that needs the user is handled as that of a client that can't be asked. refuse demands initialize first. Host,
	// Origin, Content-Type and tokens are checked in either case.
	Sessionless Sessionless `yaml:"sessionless,omitempty" absent:"allow without auth, public_url and trusted_proxies; else refuse"`
	// Serves the transport of 2024-11-05, HTTP with SSE, for clients that have no other: at /sse and /messages, and to a GET of
	// /mcp without a session. Such a client's session lives in one process, so replicas need a proxy that keeps it there.
	OldTransport bool `yaml:"old_transport" default:"false"`
	// Serves a manifest at /.well-known/mcp/manifest and /manifest, for directories and gateways of agents: what the gateway is,
	// how to get a token, and the tools that the caller's token allows. Without a token it lists tools only where auth asks
	// for none.
	Manifest bool `yaml:"manifest" default:"false"`
	// A directory for the last good document of each API, which is served if it can't be read when the gateway starts. It is
	// made if it is missing, and processes may share it. Nothing in it is secret that is not in the documents. What the configuration in
	// use allows is recorded there too, so that a start notices a file that allows more.
	StateDir File `yaml:"state_dir,omitempty" absent:"documents are kept in memory alone"`
	// When the gateway reports itself as ready for the first time: any as soon as one API is served, tried when one is and each document
	// was tried once, well or not, all when each is served. It stays ready whatever becomes of single APIs.
	Ready Ready `yaml:"ready" default:"any"`
	// Makes a secret that stands in the file in clear an error instead of a warning.
	StrictSecrets bool `yaml:"strict_secrets" default:"false"`
}

// TLS is a certificate and its key, and whose certificates clients must have. All files are read again when they change; connections that are open go on.
type TLS struct {
	// A PEM file with the certificate, followed by those between it and the root.
	CertFile File `yaml:"cert_file" need:"true"`
	// A PEM file with the private key of the certificate, not encrypted. It may be the same file.
	KeyFile File `yaml:"key_file" need:"true"`
	// A PEM file with the certificates of authorities. A client needs a certificate that one of them has issued for clients, or it gets no
	// connection (mutual TLS). Tokens are checked all the same. Assistants on the public Internet have no such certificate, and cannot connect then.
	ClientCAFile File `yaml:"client_ca_file,omitempty" absent:"clients are asked for no certificate"`
}

// Admin is the listener for operators.
type Admin struct {
	// The address of the listener, host:port. It is never the same as server.listen.
	Listen Address `yaml:"listen" default:"127.0.0.1:9090"`
	// Values of the Host header that are let in besides localhost, the host of listen and IP addresses: loopback ones if
	// listen is one, else all of them, since probes of Kubernetes ask for the address of the pod. A host without a port
	// stands for every port.
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none besides"`
	// The bearer token that POST /reload and POST /apis/{name}/accept demand, at least 16 characters. Without it both are
	// refused; SIGHUP reloads all the same.
	Token Secret `yaml:"token,omitempty" absent:"these requests are refused"`
}

// Auth says who may call. Either Anonymous is true or there is at least one issuer.
type Auth struct {
	// Serves everybody without a token, on any address. It excludes every other key of auth.
	Anonymous bool `yaml:"anonymous" default:"false"`
	// The authorization servers whose access tokens are accepted.
	Issuers []Issuer `yaml:"issuers,omitempty" absent:"none"`
	// The scopes that a call needs when no rule gives its operation scopes of its own.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"an error with issuers, unless allow_unscoped is true"`
	// Lets operations be called with any valid token when neither default_scopes nor a rule asks for a scope.
	AllowUnscoped bool `yaml:"allow_unscoped" default:"false"`
	// Scopes that stand for other scopes: each key grants the scopes of its list, and what those grant. Whole names
	// are compared, never prefixes.
	Implies map[string][]string `yaml:"implies,omitempty" absent:"none"`
	// Makes tools/list show a caller only the tools that its scopes suffice for. A call of another tool is then answered
	// like that of a tool that does not exist, so clients can't ask for its scopes.
	HideUnauthorized bool `yaml:"hide_unauthorized" default:"false"`
	// Makes proofs of possession carry a nonce of the gateway (RFC 9449 section 9), made with server.seal_keys. It needs
	// an issuer with dpop.
	DPoPNonce bool `yaml:"dpop_nonce" default:"false"`
}

// Issuer is an authorization server whose access tokens are accepted: JWTs (RFC 9068), or opaque ones that it is asked
// about (RFC 7662).
type Issuer struct {
	// The issuer identifier, compared byte for byte with the iss claim. https, or http for a loopback host.
	Issuer URL `yaml:"issuer" need:"true"`
	// What is usual for a provider, where no key says otherwise; auth.md tells what each preset sets.
	Preset Preset `yaml:"preset,omitempty" absent:"none: the standards"`
	// The kind of its access tokens: jwt are verified with the issuer's keys, about opaque ones the issuer is asked. At
	// most one issuer may be opaque.
	Tokens TokenKind `yaml:"tokens,omitempty" absent:"jwt, or that of the preset"`
	// How the issuer is asked about opaque tokens.
	Introspection *Introspection `yaml:"introspection,omitempty" absent:"required for opaque tokens, or that of the preset"`
	// Values of the aud claim of which a token must hold at least one.
	Audiences []string `yaml:"audiences" absent:"the resource identifier: public_url and /mcp"`
	// The clients whose tokens are accepted. For a token without aud, which some providers issue, it stands for the
	// audience; the audience of one that has any must be right all the same.
	ClientIDs []string `yaml:"client_ids,omitempty" absent:"all clients"`
	// Refuses tokens that don't name their client (client_id, azp, cid or appid), as RFC 9068 demands. With many providers
	// that tells an access token from an ID token.
	RequireClient bool `yaml:"require_client,omitempty" absent:"false, or true with a preset that needs it"`
	// Claims that only an ID token has: a token with one of them is refused.
	IDTokenClaims []IDTokenClaim `yaml:"id_token_claims,omitempty" absent:"all four, or those of the preset"`
	// Claims that may hold the scopes, as a string with spaces or as a list; the first that a token has counts. One that
	// begins with / is a JSON Pointer, such as /realm_access/roles.
	ScopeClaims []string `yaml:"scope_claims,omitempty" absent:"scope and scp, or those of the preset"`
	// The longest time between iat (now, without it) and exp of a token that is accepted.
	MaxLifetime Duration `yaml:"max_lifetime,omitempty" min:"1m" max:"8760h" absent:"any; tokens of more than a day are warned of"`
	// What to do with tokens that are bound to a key of the caller (RFC 9449): off refuses them, accept takes them with a
	// proof and others without, require takes no others.
	DPoP DPoP `yaml:"dpop" default:"off"`
	// Signature algorithms that are accepted. Symmetric ones and none can't be.
	Algorithms []Algorithm `yaml:"algorithms" default:"[RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA]"`
	// Values of the typ header that are accepted besides at+jwt, for servers that don't follow RFC 9068; usually JWT, or
	// none for tokens without the header. ID tokens are refused even then.
	AcceptTyp []string `yaml:"accept_typ,omitempty" absent:"none besides, or those of the preset"`
	// How far the clocks of the issuer and of the gateway may differ.
	Skew Duration `yaml:"skew" default:"60s" min:"0s" max:"5m"`
	// A file with PEM certificates that are trusted for this issuer instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
}

// Introspection is how the issuer of opaque tokens is asked about one (RFC 7662).
type Introspection struct {
	// The URL to ask. https, or http for a loopback host.
	Endpoint *URL `yaml:"endpoint,omitempty" absent:"what the issuer's metadata says"`
	// The name of the gateway at the issuer.
	ClientID string `yaml:"client_id,omitempty" absent:"nobody authenticates"`
	// The secret of that client.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"required with client_id"`
	// How client and secret are sent (RFC 6749 section 2.3.1).
	ClientAuth IntrospectionAuth `yaml:"client_auth" default:"client_secret_basic"`
	// The most questions in a second, and five times as many at once. Beyond it, tokens that are not known get 503.
	Rate int `yaml:"rate" default:"100" min:"1" max:"10000"`
}

// API is one OpenAPI document and the service that it describes.
type API struct {
	// The OpenAPI document, 2.0 to 3.2, as a URL or as a path relative to the directory of this file. A URL may be that of
	// the page of an API viewer (Swagger UI, ReDoc, …). A directory stands for all documents directly in it (.json, .yaml,
	// .yml), each an API with the settings of this entry; files that come and go are noticed.
	Spec Location `yaml:"spec" need:"true"`
	// The directory that the files of the document must be in or below, symbolic links followed. The document may refer to files in folders
	// beside its own then (../common/types.yaml), and whoever writes it can have any file there read as a part of it. Only for a
	// document from a file.
	Root File `yaml:"root,omitempty" absent:"the document's own directory"`
	// The name of the API in tool names, rules, logs and metrics: a letter or digit, then letters, digits, _ and -, at
	// most 40. It must be unique. Without it the name is made of as many words of the title as 24 characters have room
	// for, and changes with the title, and how it is made may change with the release: give one to an API that
	// rules, approvals (tools.lock) or alerts are about.
	Name string `yaml:"name,omitempty" absent:"from the document's title"`
	// Where calls go. It wins over the document's servers. http or https, no query and no fragment.
	BaseURL *URL `yaml:"base_url,omitempty" absent:"the document's servers, as far as they are trusted"`
	// How often a document from a URL is fetched again; 0s for never. One that took long to read is left alone 50 times as long, if that is more. Files are watched.
	Refresh Duration `yaml:"refresh" default:"5m" min:"100ms" max:"168h" zero:"never"`
	// What the gateway sends to authenticate itself, only ever to the origin of base_url, else of the document's URL; also
	// with the fetch of a document of that origin. A document from a file, or allow_servers, needs base_url beside it. It is
	// the default: an operation whose security schemes have a credential of their own in credentials gets that.
	Credential *Credential `yaml:"credential,omitempty" absent:"nothing is sent"`
	// Credentials by the name of the security scheme of the document that they are for. An operation gets those of its first
	// alternative all of whose schemes have one, else credential. They go to the same origin as credential.
	Credentials map[string]*Credential `yaml:"credentials,omitempty" absent:"none"`
	// What authenticates the fetch of the document instead of credential, for a document that is behind another lock than
	// its API. It goes to the origin of the document's URL alone, and can't be of type token_exchange. Where credential is
	// that, the document is fetched without.
	SpecCredential *Credential `yaml:"spec_credential,omitempty" absent:"credential, if the document has the origin of the API"`
	// Headers of the caller's request that go on to the service, at most 32. They go where credential goes. An argument of
	// that name is no longer one. Headers with credentials in them, and those that say where a request comes from or goes
	// to, can't be passed on. A mapping with from and to, instead of a name, is for the caller's own credential for the service.
	PassHeaders []PassedHeader `yaml:"pass_headers,omitempty" absent:"none"`
	// Tells the service who calls it, in a header with a JWT that the keys of the root's identity sign: iss, aud, iat, exp,
	// jti, and of the caller's token sub, client_id, scope and, as idp, iss. {} is enough. It goes where credential goes.
	Identity *APIIdentity `yaml:"identity,omitempty" absent:"the service is not told"`
	// The certificate that the gateway shows to the service (mutual TLS). It goes where credential goes, which must be https.
	ClientCertificate *ClientCertificate `yaml:"client_certificate,omitempty" absent:"none"`
	// The time to fetch the document.
	SpecTimeout Duration `yaml:"spec_timeout" min:"100ms" max:"30s" absent:"limits.spec_timeout"`
	// The share of its operations, in per cent, that the document may lose at once. limits.max_loss says more.
	MaxLoss int `yaml:"max_loss,omitempty" min:"1" max:"100" absent:"limits.max_loss"`
	// Which operations become tools.
	Tools APITools `yaml:"tools,omitempty" absent:"all operations"`
	// Makes calls need the scopes that the document's security requirements name, besides auth.default_scopes. An operation
	// that a rule gives scopes needs those alone. Only for documents whose scopes callers can have.
	ScopesFromDocument bool `yaml:"scopes_from_document" default:"false"`
	// The scopes that stand for one of the document. It needs scopes_from_document.
	ScopeMap map[string][]string `yaml:"scope_map,omitempty" absent:"scopes are taken as they are"`
	// Which keywords the published schemas may use: full has all of JSON Schema 2020-12 that the document needs, portable
	// only those that every known model and client takes. Names of arguments and their checks are the same.
	SchemaProfile SchemaProfile `yaml:"schema_profile" default:"full"`
	// Whether tools get an output schema: loose gives one that every answer of the documented shape fits, off gives
	// none.
	OutputSchemas OutputSchemas `yaml:"output_schemas" default:"loose"`
	// How a JSON answer is passed on: both as compact text and as structuredContent, text alone, or structured with a
	// short text beside it. An answer that has no structuredContent is always passed on as text.
	Answers Answers `yaml:"answers" default:"both"`
	// Gives large answers, or those that are no text, as links to resources that the client reads when it wants to.
	Links *Links `yaml:"links,omitempty" absent:"all answers are given as they are"`
	// Headers of answers that are passed on besides those that the document declares, ETag, Link, Location and Retry-After, at most 32: X-Total-Count.
	// They stand in _meta and in words for the model. Cookies and other credentials, and what names servers, are never passed on.
	AnswerHeaders []string `yaml:"answer_headers,omitempty" absent:"none besides"`
	// How an HTML answer is passed on: raw as it came, text reduced to what a reader sees.
	HTML HTML `yaml:"html" default:"raw"`
	// Takes out of the answers what a person who looks at them does not see, but a model reads: control characters, escape
	// sequences of terminals, directions, characters of no width, tags. Errors of the service are always cleaned.
	Clean bool `yaml:"clean" default:"false"`
	// Values for the variables of the document's servers. A variable with an enum takes only values of it.
	ServerVariables map[string]string `yaml:"server_variables,omitempty" absent:"the document's defaults"`
	// The path parameters whose values may hold slashes, such as a path in a repository. A name alone sends each
	// slash as it is; a mapping of name and as says how. Segments . and .. are refused all the same.
	SlashParameters []SlashParameter `yaml:"slash_parameters,omitempty" absent:"none: a slash is refused"`
	// Arguments that clients add to calls of their own accord, instead of those of tools.drop_arguments; [] drops none. The names follow the same
	// rules.
	DropArguments []string `yaml:"drop_arguments,omitempty" absent:"tools.drop_arguments"`
	// The time that a call may take in all, and so the head of its answer, whatever limits.first_byte_timeout says. A rule's timeout wins.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"limits.timeout"`
	// The most calls at the same time.
	MaxInFlight int `yaml:"max_in_flight" min:"1" max:"100000" absent:"limits.max_in_flight"`
	// How many more calls may wait.
	MaxQueued int `yaml:"max_queued" min:"0" max:"100000" absent:"limits.max_queued"`
	// How long a call waits at most.
	QueueTimeout Duration `yaml:"queue_timeout" min:"1ms" max:"1m" absent:"limits.queue_timeout"`
	// When a service that fails is left alone; off for never.
	Breaker Breaker `yaml:"breaker" absent:"each key of it has its own"`
	// How often a request is sent again that came to nothing; off for never. See resilience.md for which are.
	Retries Retries `yaml:"retries" absent:"each key of it has its own"`
	// Which redirects of the service are followed: none, or, with same_origin, 307 and 308 to the origin that was called, with the same method,
	// body and credential. At most 5 in a call, below the base URL, and to no path that another operation of the document has, which
	// may have rules of its own. The deadline is that of the call. A redirect that is not followed is told.
	FollowRedirects FollowRedirects `yaml:"follow_redirects,omitempty" absent:"off"`
	// The most bytes of an answer, after decompression.
	MaxAnswer ByteSize `yaml:"max_answer" min:"1KiB" max:"1GiB" absent:"limits.max_answer"`
	// How many calls the API gets from clients, whatever tools they are of.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any"`
	// A file with PEM certificates that are trusted for this API instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
	// Servers, besides the document's own origin, that a document from a URL may send calls to: scheme://host[:port].
	AllowServers []Origin `yaml:"allow_servers,omitempty" absent:"none besides"`
	// Obeys the extensions of the document's operations that stand for settings of rules, such as x-mcp-confirm. They count
	// as rules before all others, so a rule wins over them. Whoever writes the document then decides on what they say.
	TrustExtensions bool `yaml:"trust_extensions" default:"false"`
	// Origins, besides the document's own, from which the document may take parts by reference: scheme://host[:port].
	AllowRefs []Origin `yaml:"allow_refs,omitempty" absent:"none besides"`
	// Networks (CIDR) or addresses on which every host of this API may stand. Without it, hosts that this file names
	// may have any address but link-local ones and those of cloud metadata services, and all others need public ones. One
	// of those is allowed by an entry that holds nothing else, such as 169.254.169.254, and not by a wider network.
	AllowAddresses []Network `yaml:"allow_addresses,omitempty" absent:"none"`

	directory bool // see FromDirectory
}

// APITools says which operations of an API become tools.
type APITools struct {
	// Only operations that one of these selectors matches become tools.
	Include Selectors `yaml:"include,omitempty" absent:"all operations"`
	// Operations that one of these selectors matches don't become tools. It wins over include.
	Exclude Selectors `yaml:"exclude,omitempty" absent:"none"`
}

// Tools says how tools are named.
type Tools struct {
	// Whether tool names begin with the name of their API: auto does so when more than one API is configured.
	Prefix Prefix `yaml:"prefix" default:"auto"`
	// The most characters of a tool name. Longer names are cut and end in a hash. Clients add characters of their own,
	// and many have a limit of 64.
	MaxName int `yaml:"max_name" default:"64" min:"24" max:"128"`
	// The file of approved tools, which drawbridge lock writes. With it, a tool that is new, or whose method, path, title,
	// description or schema is another, is held back until it is approved: nobody sees it or can call it.
	Lock File `yaml:"lock,omitempty" absent:"every tool is served"`
	// Which calls wait for the user's consent where no rule says so: none, or those of tools that are marked as
	// destructive, which all methods but the safe ones are.
	Confirm Confirm `yaml:"confirm" default:"none"`
	// What becomes of such a call if its client can't ask the user: it is refused or allowed.
	Unconfirmed Unconfirmed `yaml:"unconfirmed" default:"refuse"`
	// The scopes with which a caller is never asked, such as one without a user. It needs auth.issuers.
	UnconfirmedScopes []string `yaml:"unconfirmed_scopes,omitempty" absent:"everybody is asked"`
	// Allows inputs of the kinds sample and roots, which the protocol has deprecated (SEP-2577): for clients that have
	// nothing else.
	DeprecatedInputs bool `yaml:"deprecated_inputs" default:"false"`
	// Arguments that clients add to calls of their own accord, such as toolCallId and sessionId: they are taken out of the arguments of
	// tools/call before these are checked, and are not sent to the service. An argument that the tool declares is kept. Exact names, at most 64 of
	// 128 bytes each.
	DropArguments []string `yaml:"drop_arguments,omitempty" absent:"none"`
	// The origins that the gateway calls when a job has ended, where the call has asked for it with a URL in its _meta under
	// drawbridge/callbackUrl. https, or http for a loopback host. They may stand on private addresses.
	CallbackURLs []Origin `yaml:"callback_urls,omitempty" absent:"nobody is called"`
	// What signs these requests (HMAC-SHA256), at least 16 bytes.
	CallbackSecret Secret `yaml:"callback_secret,omitempty" absent:"required with callback_urls"`
}

// Rule changes the tools that it matches.
type Rule struct {
	// Which operations the rule is for.
	Match Selectors `yaml:"match" need:"true"`
	// What it changes, at least one thing.
	Set Settings `yaml:"set" need:"true"`
}

// Settings is what a [Rule] changes of a tool. A zero field leaves things as they are.
type Settings struct {
	// The tool's name instead of the one made from the operation: letters, digits, _ and -, at most tools.max_name.
	Name string `yaml:"name,omitempty" absent:"from operationId, else from method and path"`
	// The tool's title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"from the operation's summary"`
	// The tool's description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"from the operation's summary and description"`
	// The scopes that a call needs, instead of auth.default_scopes. An empty list needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes"`
	// Arguments that clients of 2026-07-28 repeat in the header Mcp-Param-NAME, so that proxies can route calls by them: the
	// name of the header for each argument. A call whose header says something else than its body is refused. Arguments that are
	// not strings, integers or booleans can't be repeated, and secrets should not be: proxies log headers. {} takes back what
	// earlier rules say.
	ParamHeaders map[string]string `yaml:"param_headers,omitempty" absent:"none"`
	// What a call must fulfil besides its scopes: an expression of the Common Expression Language over claims, principal,
	// tool and args, at most 4096 bytes. What can't be evaluated is refused. It needs auth.issuers.
	Condition string `yaml:"condition,omitempty" absent:"none"`
	// Whether a call waits for the user's consent, which is asked for when the arguments are known to be right.
	Confirm *bool `yaml:"confirm,omitempty" absent:"tools.confirm"`
	// What a call asks the user, or the client, before it is made, in the order of the steps. The tool then does not demand
	// the arguments that are asked for. [] takes back what earlier rules and the document say.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing"`
	// The time that a call may take in all, and so the head of its answer, whatever limits.first_byte_timeout says.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"the API's timeout"`
	// Whether a request may be sent again when nobody knows what became of the first. A request of which it is certain that the
	// service has not seen it is sent again in any case.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"what RFC 9110 says of the method"`
	// Sends a key with each call by which the service knows a request that it has seen before, so that it may be sent again: a
	// random UUID in the header Idempotency-Key, or in that of the name given here. false takes back what earlier rules say.
	IdempotencyKey KeyHeader `yaml:"idempotency_key,omitempty" absent:"none"`
	// How many calls the tool gets from clients. off takes back what earlier rules say.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any"`
	// Makes a GET operation a resource that clients can read, or a template of resources if its URI has variables. true
	// stands for {}, and false for none, whatever earlier rules say.
	Resource *Resource `yaml:"resource,omitempty" absent:"none"`
	// Where the events of a streamed answer tell how far the call is, for clients that want to know. false takes back what
	// earlier rules and the document say.
	Progress *Progress `yaml:"progress,omitempty" absent:"each key of it has its own"`
	// How a call goes on whose answer is that the work has begun, which is that of status 202, or any of 2xx in which the job is
	// found. true stands for {}. false takes back what earlier rules and the document say, and no answer is a job then.
	Job *Job `yaml:"job,omitempty" absent:"as a job of which nothing is said, if the answer has status 202 and names a place to ask"`
	// Keeps answers of GET and HEAD in memory, each for its caller, as far as the service's headers allow (RFC 9111). true stands for {},
	// and false for none, whatever earlier rules say.
	Cache *Cache `yaml:"cache,omitempty" absent:"no answer is kept"`
	// Whether what nobody sees is taken out of the answers.
	Clean *bool `yaml:"clean,omitempty" absent:"the API's clean"`
	// What leaves no answer of the operation: its fields are hidden before anybody sees them. A list stands for fields. Rules and
	// documents add to what others hide, and take nothing back.
	SensitiveFields *SensitiveFields `yaml:"sensitive_fields,omitempty" absent:"nothing is hidden"`
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
	// What a model should know of the tools as a whole, at most 4096 bytes. Clients may put it before their model.
	Instructions string `yaml:"instructions,omitempty" absent:"none"`
	// The scopes that a call needs when no rule gives its operation scopes of its own.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"auth.default_scopes"`
	// The least that schemas are reduced to, whatever schema_profile their APIs have.
	SchemaProfile SchemaProfile `yaml:"schema_profile,omitempty" absent:"that of each API"`
}

// Telemetry is logs and traces.
type Telemetry struct {
	// The URL of an OpenTelemetry collector that takes traces by OTLP over HTTP. Without a path it stands for /v1/traces.
	OTLPEndpoint *URL `yaml:"otlp_endpoint,omitempty" absent:"no traces are sent"`
	// The least severe log records that are written.
	LogLevel LogLevel `yaml:"log_level" default:"info"`
	// The form of log records on standard error.
	LogFormat LogFormat `yaml:"log_format" default:"json"`
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
