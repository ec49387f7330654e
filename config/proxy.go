package config

import (
	"cmp"
	"crypto/x509"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Proxy is the proxy that connections of the gateway go through. It is written as a mapping, as off, for direct connections, or as
// environment, for the proxies that environment variables name. Without secrets it prints like what it was read from.
type Proxy struct {
	// The URL of the proxy: http://HOST:PORT, https://HOST:PORT with TLS to the proxy, or socks5://HOST:PORT. The default
	// ports are 80, 443 and 1080. It may contain a user and password, as in http://USER:PASSWORD@HOST. Every connection is a
	// tunnel (CONNECT), also one to a service without TLS. The proxy may be on a private address.
	URL ProxyURL `yaml:"url" required:"true" access:"joint: proxy"`
	// The user at the proxy.
	User string `yaml:"user,omitempty" absent:"that of the URL, else none" access:"none: how the gateway authenticates to the proxy"`
	// The password of that user. It is sent to the proxy alone.
	Password Secret `yaml:"password,omitempty" absent:"that of the URL, else none" access:"none: secrets and keys are rotated"`
	// Hosts that are called directly, in the syntax of NO_PROXY, as a list or separated by commas: a host name with those
	// below it (example.com), only those below it (.example.com), an address, a network (10.0.0.0/8, for URLs with an address
	// of it), each with a port or without (example.com:8443). localhost and loopback addresses are always called directly.
	NoProxy NoProxy `yaml:"no_proxy,omitempty" absent:"none" access:"none: connections without the proxy are checked as always"`
	// Where host names are resolved. With gateway the addresses are checked and the proxy is asked for one of them. With
	// proxy it is asked for the name, and only names and literal addresses can be checked: see guides/egress-proxy.md.
	Resolve ProxyResolve `yaml:"resolve" default:"gateway" access:"joint: proxy"`
	// A file with PEM certificates that are trusted for an https proxy instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" access:"joint: proxy"`

	off         bool // written as off
	environment bool // written as environment
	// The proxies for http and https URLs; nil for none. They are the same unless the environment names two.
	plain, secure *ProxyURL
	authorities   string // the content of CAFile
}

// ProxyResolve says where the names of hosts behind a proxy are resolved.
type ProxyResolve string

// The values of [ProxyResolve].
const (
	ResolveGateway ProxyResolve = "gateway"
	ResolveProxy   ProxyResolve = "proxy"
)

func (ProxyResolve) values() []string { return []string{"gateway", "proxy"} }

func (p *Proxy) short() short {
	return short{words: []word{{"off", &p.off}, {"environment", &p.environment}}}
}

// For returns the proxy for URLs of a scheme, "http" or "https"; nil if connections are direct. p may be nil.
func (p *Proxy) For(scheme string) *ProxyURL {
	switch {
	case p == nil || p.off:
		return nil
	case scheme == "https":
		return p.secure
	}
	return p.plain
}

// On reports whether any connection goes through a proxy. p may be nil.
func (p *Proxy) On() bool { return p.For("http") != nil || p.For("https") != nil }

// ResolvesNames reports whether a proxy, and not the gateway, resolves names. p may be nil.
func (p *Proxy) ResolvesNames() bool { return p.On() && p.Resolve == ResolveProxy }

// Authorities returns the certificates that are trusted for an https proxy; nil for those of the system.
func (p *Proxy) Authorities() *x509.CertPool {
	if p.authorities == "" {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(p.authorities))
	return pool
}

// Reveal returns the user and the password for a proxy of this configuration; both are empty without credentials. Every call is a place
// where a secret can leak.
func (p *Proxy) Reveal(u *ProxyURL) (user, password string) {
	return cmp.Or(p.User, u.at.user), cmp.Or(p.Password.Reveal(), u.at.password)
}

func (p *Proxy) complete(l *loader, _ *yaml.Node, key string) {
	switch {
	case p.environment:
		p.readEnvironment(l, key)
	case p.URL.at != nil:
		p.plain, p.secure = &p.URL, &p.URL
	}
}

// readEnvironment reads the variables that golang.org/x/net/http/httpproxy reads, in the same order.
func (p *Proxy) readEnvironment(l *loader, key string) {
	if l.granted != nil {
		return // a proxy is refused there
	}
	first := func(names ...string) (name, value string) {
		for _, name := range names {
			if l.getenv == nil {
				break
			}
			if value := strings.TrimSpace(l.getenv(name)); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	read := func(names ...string) *ProxyURL {
		name, value := first(names...)
		if value == "" {
			return nil
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		var u ProxyURL
		if err := u.parse(value); err != nil {
			l.errorf(key, "the environment variable %s %s", name, err)
			return nil
		}
		return &u
	}
	p.secure, p.plain = read("HTTPS_PROXY", "https_proxy"), read("HTTP_PROXY", "http_proxy")
	if p.secure == nil && p.plain == nil && l.ok(key) {
		l.warnf(key, "neither HTTPS_PROXY nor HTTP_PROXY is set, so that connections are direct")
	}
	name, list := first("NO_PROXY", "no_proxy")
	for _, entry := range splitNoProxy(list) {
		if err := checkNoProxy(entry); err != nil && entry != everyHost {
			l.warnf(key, "the environment variable %s has an entry that matches nothing: %s %s", name, quote(entry), err)
			continue
		}
		p.NoProxy = append(p.NoProxy, entry)
	}
}
