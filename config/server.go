package config

import "slices"

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
	// The identity that clients show: name, title, description, icons, website.
	Info *Info `yaml:"info,omitempty" absent:"the defaults of its keys"`
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
	// configuration that grants more, and so are the vectors of search.embeddings.
	StateDir File `yaml:"state_dir,omitempty" reload:"restart" absent:"documents are kept only in memory"`
	// When the gateway first reports itself as ready: any when one API is served, tried when one is served and loading
	// each document was tried, successfully or not, all when each is served. It then stays ready whatever happens to
	// single APIs.
	Ready Ready `yaml:"ready" default:"any"`
	// Makes a literal secret in the file an error instead of a warning.
	StrictSecrets bool `yaml:"strict_secrets" default:"false"`
}

// Scheme returns what the listener for clients speaks, http or https. A proxy in front of it may speak another.
func (s *Server) Scheme() string {
	if s.TLS != nil {
		return "https"
	}
	return "http"
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

// Hosts returns the names by which the listener is asked for besides localhost: that of listen, unless it stands for all
// interfaces, and allowed_hosts. An entry without a port stands for every port.
func (a *Admin) Hosts() []string {
	hosts := slices.Clone(a.AllowedHosts)
	if !a.Listen.anyHost() {
		hosts = append(hosts, a.Listen.URLHost())
	}
	return hosts
}
