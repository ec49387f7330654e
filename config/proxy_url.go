package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ProxyURL says where a proxy is. It prints without user and password, with every verb of package fmt.
type ProxyURL struct {
	// A pointer, for the reason that Secret has one.
	at *proxyPlace
}

type proxyPlace struct {
	scheme, host, port string
	user, password     string
	hasPassword        bool
}

// proxyPorts are the default ports by scheme, as net/http has them.
var proxyPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080"}

// String returns the URL without user and password.
func (u ProxyURL) String() string {
	if u.at == nil {
		return ""
	}
	return u.at.scheme + "://" + u.Address()
}

// Format implements [fmt.Formatter] so that no verb prints the password.
func (u ProxyURL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// MarshalText implements [encoding.TextMarshaler], without user and password.
func (u ProxyURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue implements [slog.LogValuer].
func (u ProxyURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Scheme returns http, https or socks5.
func (u ProxyURL) Scheme() string { return u.at.scheme }

// Host returns the host without its port.
func (u ProxyURL) Host() string { return u.at.host }

// Address returns host:port.
func (u ProxyURL) Address() string { return net.JoinHostPort(u.at.host, u.at.port) }

func (u ProxyURL) hasPassword() bool { return u.at != nil && u.at.hasPassword }

func (u *ProxyURL) parse(text string) error {
	parsed, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return errors.New("is not a URL; in a password, characters other than letters, digits, _, -, . and ~ are written as %XX, or it is given as password")
	}
	switch {
	case parsed.Scheme == "socks5h":
		return errors.New("must be socks5://HOST:PORT; for names that the proxy resolves, write resolve: proxy")
	case proxyPorts[parsed.Scheme] == "" || parsed.Opaque != "" || parsed.Hostname() == "":
		return errors.New("must be http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
	case parsed.Path != "" && parsed.Path != "/" || parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return errors.New("must end after the host or port")
	case !goodPort(parsed.Port()) || strings.HasSuffix(parsed.Host, ":"):
		return errors.New("has a bad port")
	}
	host := parsed.Hostname()
	if _, err := netip.ParseAddr(host); err != nil && !goodHostname(host) {
		return errors.New("has a bad host: it must be an IP address or a host name")
	}
	at := &proxyPlace{scheme: parsed.Scheme, host: host, port: cmp.Or(parsed.Port(), proxyPorts[parsed.Scheme])}
	if parsed.User != nil {
		at.user = parsed.User.Username()
		at.password, at.hasPassword = parsed.User.Password()
	}
	u.at = at
	return nil
}
