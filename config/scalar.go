package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"drawbridge/openapi/origin"
)

// parser is a scalar type that reads itself from the text of a YAML scalar, after expansion. The error names the
// fault of the text without repeating it, because the text may be secret.
type parser interface{ parse(text string) error }

// resolver is a scalar type that is relative to the directory of the file.
type resolver interface{ resolve(dir string) }

// URL is an absolute http or https URL with a host and without user information, query and fragment.
type URL struct {
	raw    string
	parsed *url.URL
}

// ParseURL returns the URL that text stands for.
func ParseURL(text string) (URL, error) {
	var u URL
	err := u.parse(text)
	return u, err
}

// String returns the URL as it was written, which matters for identifiers that are compared byte for byte.
func (u URL) String() string { return u.raw }

// MarshalText returns the URL as it was written.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.raw), nil }

// URL returns a copy of the parsed URL, nil for the zero URL.
func (u URL) URL() *url.URL {
	if u.parsed == nil {
		return nil
	}
	c := *u.parsed
	return &c
}

// Origin returns scheme://host[:port] in lower case without a default port, as browsers write it.
func (u URL) Origin() string {
	o, _ := origin.Of(u.parsed)
	return o.String()
}

// Loopback reports whether the host is localhost or a loopback address.
func (u URL) Loopback() bool { return u.parsed != nil && origin.Loopback(u.parsed.Hostname()) }

// trimmed returns the URL as it was written, without slashes at the end.
func (u URL) trimmed() string { return strings.TrimRight(u.raw, "/") }

func (u *URL) parse(text string) error {
	parsed, err := parseHTTP(text)
	if err != nil {
		return err
	}
	if parsed.RawQuery != "" || parsed.ForceQuery {
		return errors.New("must not have a query (?…)")
	}
	*u = URL{raw: text, parsed: parsed}
	return nil
}

func parseHTTP(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		if err != nil && !strings.Contains(text, "://") { // 127.0.0.1:8080 has a colon where a path has none
			return nil, errAbsolute
		}
		return nil, errors.New("is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errAbsolute
	}
	return u, checkURL(u, text)
}

var errAbsolute = errors.New("must be an absolute URL, http://… or https://…")

// checkURL rejects parts that no URL of the configuration may have, in any scheme.
func checkURL(u *url.URL, text string) error {
	switch {
	case u.User != nil:
		return errors.New("must not hold a user name or password; use credential")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return errors.New("must not have a fragment (#…)")
	case !goodPort(u.Port()) || strings.HasSuffix(u.Host, ":"):
		return errors.New("has a bad port")
	}
	return nil
}

func goodPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// Endpoint is an absolute http or https URL with a host, which may have a query, as token endpoints do (RFC 6749, 3.2).
type Endpoint string

// String returns the URL as it was written.
func (e Endpoint) String() string { return string(e) }

// Host returns the host without its port.
func (e Endpoint) Host() string {
	u, err := url.Parse(string(e))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// secure reports whether what is sent there can't be read on the way.
func (e Endpoint) secure() bool { return isProtected(string(e)) }

// isProtected reports whether data that is sent to a URL can't be read on the way.
func isProtected(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || origin.Loopback(u.Hostname()))
}

func (e *Endpoint) parse(text string) error {
	if _, err := parseHTTP(text); err != nil {
		return err
	}
	*e = Endpoint(text)
	return nil
}

// Origin is scheme://host[:port] in lower case, http or https, without a default port.
type Origin string

// String returns the origin.
func (o Origin) String() string { return string(o) }

// Hosts returns the host names of origins, without ports.
func Hosts(origins []Origin) (hosts []string) {
	for _, o := range origins {
		if u, err := url.Parse(string(o)); err == nil && u.Host != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

func (o *Origin) parse(text string) error {
	u, err := parseHTTP(text)
	if err != nil {
		return err
	}
	text, err = originOnly(u)
	if err != nil {
		return err
	}
	*o = Origin(text)
	return nil
}

// originOnly returns the origin of a URL that has nothing else.
func originOnly(u *url.URL) (string, error) {
	o, ok := origin.Of(u)
	switch {
	case !ok:
		return "", errors.New("has no host, or a bad port")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery:
		return "", fmt.Errorf("must end after the host or port: %s", o)
	}
	return o.String(), nil
}

// CallerOrigin is a value of the Origin header (RFC 6454 section 6.2): scheme://host[:port] in lower case without a default port. The scheme is
// http or https for a page, and that of a browser's extension or of a desktop program else: chrome-extension://ID, tauri://localhost.
type CallerOrigin string

// String returns the origin.
func (o CallerOrigin) String() string { return string(o) }

func (o *CallerOrigin) parse(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "" || strings.ContainsFunc(text, unicode.IsSpace):
		return errors.New("must be an origin, such as https://app.example.com, chrome-extension://ID or tauri://localhost")
	case strings.Contains(u.Host, "*"):
		return errors.New("is compared exactly, so that a * stands for nothing; list each origin")
	}
	bad := checkURL(u, text)
	text, err = originOnly(u)
	if err := errors.Join(bad, err); err != nil {
		return err
	}
	*o = CallerOrigin(text)
	return nil
}

// Location says where an OpenAPI document is: an http or https URL, or a file path.
type Location string

// String returns the URL or path.
func (l Location) String() string { return string(l) }

// IsURL reports whether the document is fetched from a URL.
func (l Location) IsURL() bool { return isURL(string(l)) }

func isURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\`)
}

func (l *Location) parse(text string) error {
	if isURL(text) {
		scheme, rest, _ := strings.Cut(text, "://")
		if strings.EqualFold(scheme, "file") {
			return fmt.Errorf("must be an http or https URL, or a plain path such as %q", rest)
		}
		if _, err := parseHTTP(text); err != nil {
			return err
		}
	} else if err := checkPath(text); err != nil {
		return err
	}
	*l = Location(text)
	return nil
}

func (l *Location) resolve(dir string) {
	if !l.IsURL() {
		*l = Location(resolvePath(dir, string(*l)))
	}
}

// File is a file path. A relative path in a configuration file is taken from the directory of that file.
type File string

// String returns the path.
func (f File) String() string { return string(f) }

func (f *File) parse(text string) error {
	if err := checkPath(text); err != nil {
		return err
	}
	*f = File(text)
	return nil
}

func (f *File) resolve(dir string) { *f = File(resolvePath(dir, string(*f))) }

func checkPath(text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("is not a path: it holds a NUL character")
	}
	return nil
}

func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Address is an address to listen on, host:port. An empty host stands for all interfaces, port 0 for a free port.
type Address string

// String returns host:port.
func (a Address) String() string { return string(a) }

// Loopback reports whether only this machine can reach the address.
func (a Address) Loopback() bool { return origin.Loopback(a.Host()) }

// anyHost reports whether the address stands for all interfaces.
func (a Address) anyHost() bool {
	host := a.Host()
	return host == "" || host == "0.0.0.0" || host == "::"
}

// Host returns the host, without the brackets of an IPv6 address.
func (a Address) Host() string {
	host, _, _ := net.SplitHostPort(string(a))
	return host
}

// Port returns the port in digits.
func (a Address) Port() string {
	_, port, _ := net.SplitHostPort(string(a))
	return port
}

// URLHost returns the host in the form of a URL and of a Host header: an IPv6 address in brackets.
func (a Address) URLHost() string {
	host := a.Host()
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func (a *Address) parse(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:8080 or :8080")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return errors.New("has a bad port: it must be a number from 0 to 65535")
	}
	if _, err := netip.ParseAddr(host); host != "" && err != nil && !goodHostname(host) {
		return errors.New("has a bad host: it must be an IP address or a host name")
	}
	*a = Address(text)
	return nil
}

func goodHostname(host string) bool {
	if len(host) > 253 {
		return false
	}
	digits := true
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !alphanumeric(c) && c != '-' && c != '_' {
				return false
			}
			digits = digits && '0' <= c && c <= '9'
		}
	}
	// Digits and dots that are no address are a misspelt address.
	return !digits
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Network is a range of IP addresses.
type Network struct{ prefix netip.Prefix }

// Prefix returns the range.
func (n Network) Prefix() netip.Prefix { return n.prefix }

// String returns the range in CIDR notation.
func (n Network) String() string { return n.prefix.String() }

// MarshalText returns the range in CIDR notation.
func (n Network) MarshalText() ([]byte, error) { return n.prefix.MarshalText() }

func (n *Network) parse(text string) error {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		n.prefix = netip.PrefixFrom(ip, ip.BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return errors.New("must be an IP address or a network such as 10.0.0.0/8")
	}
	if p != p.Masked() {
		return fmt.Errorf("has bits set beyond its length; did you mean %s?", p.Masked())
	}
	n.prefix = p
	return nil
}

// Duration is a length of time. In a file it is written like 300ms, 30s, 5m or 1h30m.
type Duration time.Duration

// String returns the duration as it is written in a file, without zero units.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText returns the duration as it is written in a file.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Duration) parse(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		return errors.New(`must be a duration with a unit, such as "300ms", "30s", "5m" or "1h30m"`)
	}
	*d = Duration(v)
	return nil
}

// TokenCount is a number of tokens of a language model. In a file it is a number, or a number of thousands with the unit
// k.
type TokenCount int

// String returns the number, in thousands if it is a whole number of them.
func (t TokenCount) String() string {
	if t != 0 && t%1000 == 0 {
		return strconv.Itoa(int(t/1000)) + "k"
	}
	return strconv.Itoa(int(t))
}

// MarshalText returns the number as it is written in a file.
func (t TokenCount) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

func (t *TokenCount) parse(text string) error {
	digits, thousands := strings.CutSuffix(text, "k")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 {
		return errors.New(`must be a number of tokens such as 15000 or "20k"`)
	}
	if thousands {
		n *= 1000
	}
	*t = TokenCount(n)
	return nil
}

// ByteSize is a number of bytes. In a file it is a number, or a number with one of the units B, KB, MB, GB (powers of
// 1000), KiB, MiB, GiB (powers of 1024).
type ByteSize int64

var errByteSize = errors.New(`must be a size such as 65536, "64KiB", "8MiB" or "1GB"`)

// String returns the size with the largest power of 1024 that leaves a whole number.
func (b ByteSize) String() string {
	for _, unit := range []struct {
		name string
		size ByteSize
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText returns the size as it is written in a file.
func (b ByteSize) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

func (b *ByteSize) parse(text string) error {
	digits := strings.TrimRight(text, "BKMGi")
	unit := text[len(digits):]
	digits = strings.TrimRight(digits, " ")
	var size int64
	switch unit {
	case "", "B":
		size = 1
	case "KB":
		size = 1e3
	case "MB":
		size = 1e6
	case "GB":
		size = 1e9
	case "KiB":
		size = 1 << 10
	case "MiB":
		size = 1 << 20
	case "GiB":
		size = 1 << 30
	default:
		return errByteSize
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/size {
		return errByteSize
	}
	*b = ByteSize(n * size)
	return nil
}
