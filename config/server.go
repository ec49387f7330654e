package config

import (
	"slices"
	"strings"
)

// Server says where and how clients are served.
type Server struct {
	// The address of the MCP endpoint. One that is not loopback needs auth.
	Listen Address `yaml:"listen" reload:"restart" default:"127.0.0.1:8080" access:"joint: hosts"`
	// The URL by which clients reach the gateway: https, or http for loopback. With /mcp appended it is the resource
	// identifier of tokens (RFC 9728). If it has a path, the gateway serves with and without that path.
	PublicURL *URL `yaml:"public_url,omitempty" absent:"http:// (https:// with tls) and server.listen, if that is loopback" access:"none: public_urls holds it"`
	// The URLs of a gateway that clients reach by several names, such as one inside and one outside a network; it replaces
	// public_url. The Host of a request chooses the URL that challenges and metadata name; a token is valid for the URL that it
	// names, unless auth.shared_audience is true. Services call back at the first. At most 10.
	PublicURLs []URL `yaml:"public_urls,omitempty" absent:"public_url" access:"joint: origins" empty:": list the URLs by which clients reach the gateway, or leave it out" count:"10: has %d URLs; at most %d are allowed"`
	// The gateway's certificate. Without it the listener serves plain HTTP, for loopback or behind a proxy.
	TLS *TLS `yaml:"tls,omitempty" reload:"restart" absent:"plain HTTP" access:"restricts"`
	// Addresses or networks (CIDR) of proxies whose X-Forwarded-For or Forwarded header names the client. Used for logs
	// and limits only, also on the admin listener.
	TrustedProxies []Network `yaml:"trusted_proxies,omitempty" absent:"none: the address of the TCP peer is used" access:"grants" unique:"%v is listed twice"`
	// Keys that seal session ids and other handles, at least 32 characters each: the first seals, all open. Replicas
	// must share them.
	SealKeys []Secret `yaml:"seal_keys,omitempty" absent:"random at each start" access:"none: secrets and keys are rotated" length:"32.." unique:"is the same as an earlier key"`
	// A file with a key in place of seal_keys, created at the first start, so that sessions survive restarts of a
	// single process. Not in state_dir.
	SealKeyFile File `yaml:"seal_key_file,omitempty" absent:"seal_keys" access:"none: secrets and keys are rotated" excludes:"seal_keys: a key is either in the configuration or made by the gateway"`
	// Instructions for models, at most 4096 bytes.
	Instructions string `yaml:"instructions,omitempty" absent:"none" access:"none: words for models and users"`
	// The identity that clients show: name, title, description, icons, website.
	Info *Info `yaml:"info,omitempty" absent:"the defaults of its keys" access:"none: words for models and users" empty:"leave it out"`
	// Accepted values of the Host header besides those of public_url and listen. A host without a port matches every
	// port.
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none" access:"joint: hosts"`
	// Accepted values of the Origin header besides the origin of public_url, such as chrome-extension://ID. Requests
	// without the header need none.
	AllowedOrigins []CallerOrigin `yaml:"allowed_origins,omitempty" absent:"none" access:"joint: origins"`
	// The maximum number of entries on a page of a list. Some clients read only the first page.
	PageSize int `yaml:"page_size" default:"2000" min:"1" max:"10000" access:"none: how lists are sent"`
	// The silence after which an event stream gets a comment; 0s for never.
	KeepAlive Duration `yaml:"keep_alive" default:"15s" min:"100ms" max:"1h" zero:"never" access:"none: how streams are sent"`
	// The time that the gateway keeps serving after a stop signal, while it reports not ready. Ctrl-C on a terminal
	// skips it.
	ShutdownDelay Duration `yaml:"shutdown_delay" default:"5s" min:"0s" max:"10m" access:"none: how the process ends"`
	// The time that running calls have after shutdown_delay before they are cancelled.
	DrainTimeout Duration `yaml:"drain_timeout" default:"25s" min:"0s" max:"1h" access:"none: how the process ends"`
	// The effect of a closed connection on a running call, for revisions before 2026-07-28: cancel stops it if its
	// method is safe, finish lets it complete.
	LegacyDisconnect Disconnect `yaml:"legacy_disconnect" default:"cancel" access:"none: when a call ends"`
	// Requests without a session, for revisions before 2026-07-28: allow answers tools/list, tools/call and ping,
	// refuse requires initialize.
	Sessionless Sessionless `yaml:"sessionless,omitempty" absent:"allow without auth, public_url and trusted_proxies; else refuse" access:"none: another form of the same requests, with the same checks"`
	// The validity of a session from its initialize on, for revisions before 2026-07-28. Use does not prolong it; a client
	// must initialize again afterwards, which some don't. A change applies to new sessions.
	SessionLife Duration `yaml:"session_life,omitempty" min:"1m" max:"8760h" absent:"24h" access:"none: a session is no authentication; the token is checked with each request"`
	// Serves the HTTP+SSE transport of 2024-11-05 at /sse and /messages. Replicas then need sticky sessions.
	OldTransport bool `yaml:"old_transport" reload:"restart" default:"false" access:"none: another form of the same requests, with the same checks"`
	// Serves a manifest at /.well-known/mcp/manifest and /manifest, with the tools that the caller may see.
	Manifest bool `yaml:"manifest" default:"false" access:"none: it shows the lists to callers who get them anyway"`
	// A directory for each API's last good document and each issuer's keys, for starts during an outage, for the accepted
	// configuration, and for vectors of embeddings.
	StateDir File `yaml:"state_dir,omitempty" reload:"restart" absent:"documents are kept only in memory" access:"none: it holds documents and the record of access"`
	// When the gateway reports ready. One of any, tried and all is short for a mapping with apis.
	Ready Ready `yaml:"ready" absent:"the defaults of its keys" access:"none: when the gateway is ready, not for which callers"`
	// Makes a literal secret in the file an error instead of a warning.
	StrictSecrets bool `yaml:"strict_secrets" default:"false" access:"none: a check of the file"`
}

// Scheme returns what the listener for clients speaks, http or https. A proxy in front of it may speak another.
func (s *Server) Scheme() string {
	if s.TLS != nil {
		return "https"
	}
	return "http"
}

// Admin is the listener for operators.
type Admin struct {
	// The address of the admin listener. It must differ from server.listen.
	Listen Address `yaml:"listen" reload:"restart" default:"127.0.0.1:9090" access:"joint: hosts"`
	// Accepted values of the Host header besides localhost, the host of listen, and IP addresses (loopback only if
	// listen is).
	AllowedHosts []string `yaml:"allowed_hosts,omitempty" absent:"none" access:"joint: hosts"`
	// The bearer token for POST /reload and POST /apis/{name}/accept, at least 16 characters.
	Token Secret `yaml:"token,omitempty" absent:"these requests are rejected" access:"grants" is:"token" length:"16.."`
	// The console: pages that show what is served, why, and to whom.
	Console Console `yaml:"console" absent:"the defaults of its keys" access:"section"`
}

// Hosts returns the names by which the listener is asked for besides localhost: that of listen, unless it stands for all
// interfaces, that of console.url, and allowed_hosts. An entry without a port stands for every port.
func (a *Admin) Hosts() []string {
	hosts := slices.Clone(a.AllowedHosts)
	if !a.Listen.anyHost() {
		hosts = append(hosts, a.Listen.URLHost())
	}
	if a.Console.URL != nil {
		hosts = append(hosts, a.Console.URL.URL().Host)
	}
	return hosts
}

// ConsoleOn reports whether the console is served.
func (a *Admin) ConsoleOn() bool {
	if a.Console.Enabled != nil {
		return *a.Console.Enabled
	}
	return a.Listen.Loopback()
}

// ConsoleURL returns the URL by which browsers reach the console, without a path; "" if it is not known.
func (a *Admin) ConsoleURL() string {
	if a.Console.URL != nil {
		u := a.Console.URL.URL()
		return u.Scheme + "://" + u.Host
	}
	if a.Listen.anyHost() || a.Listen.Port() == "0" {
		return ""
	}
	return "http://" + a.Listen.URLHost() + ":" + a.Listen.Port()
}

// ConsoleSecure reports whether browsers reach the console over HTTPS.
func (a *Admin) ConsoleSecure() bool { return strings.HasPrefix(a.ConsoleURL(), "https:") }
