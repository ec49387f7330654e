package redact

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"
)

// addressPlaceholder replaces an address.
const addressPlaceholder = "[address]"

var (
	// An absolute URL, whose slashes may be escaped. Its path stays; the rest is removed.
	location = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9+.-]+):(?:\\?/){2}((?:\[redacted\]@)?(?:\[[0-9A-Fa-f:.%]+\])?[^\s\x01-\x03"'<>\\/?#,;)\]}]*)((?:\\?/[^\s\x01-\x03"'<>\\/?#,;)\]}]*)*)(?:[?#](?:\[redacted\]|\[[A-Za-z0-9_.-]*\]|[^\s\x01-\x03"'<>\\)\]}])*)?`)
	// A JDBC URL, which names a database.
	database = regexp.MustCompile(`\bjdbc:[^\s\x01-\x03"'<>\\]+`)
	// Names of private networks (RFC 6762, RFC 8375, RFC 9476, and names in common use).
	privateName = regexp.MustCompile(`(?i)\b(?:(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.)+(?:internal|intranet|local|localdomain|localhost|lan|corp|home\.arpa|svc|consul|test|private)|localhost)(?::\d{1,5})?\b(?:\.)?`)
	// A name at the position where resolvers and sockets report one.
	resolved = regexp.MustCompile(`(?i)\b((?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH) |UnknownHost(?:Exception)?:? |(?:resolve|resolving) (?:host(?:name)?:? )?["'\\]*|` +
		`(?:dial|connect) (?:tcp|udp|unix)[46]? |(?:connect(?:ion)?|connecting) to (?:host |server |the server at )?["'\\]*)([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,9}(?:%[A-Za-z0-9_.-]+)?(?::\d{1,5})?|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?::\d{1,5})?|[A-Za-z0-9_-]+:\d{1,5}|/[^\s\x01-\x03"'\\]+)`)
	bareName = regexp.MustCompile(`(?i)\b((?:ENOTFOUND|EAI_AGAIN) |UnknownHost(?:Exception)?:? |lookup |resolve host: |getaddrinfo for |host name \\*["']|HTTPS?ConnectionPool\(host=\\*["'])([A-Za-z0-9_.-]{1,253}?)( on |: no such host|["'\\\s\x01-\x03,]|$)`)
)

// withoutAddresses removes the addresses of the service and of the systems behind it. The path of a URL stays: it
// identifies the resource, as the type of a problem does (RFC 9457). As with secrets, an expression runs only if a
// literal part of it is in the text.
//
// kept lists the addresses that stay; isJSON means that the quotes in the text delimit JSON strings.
func withoutAddresses(text string, kept *Kept, isJSON bool) string {
	text = withoutURLs(text, kept, isJSON)
	low := strings.ToLower(text)
	if strings.Contains(low, "jdbc:") {
		text = database.ReplaceAllString(text, addressPlaceholder)
	}
	if containsAny(low, "enotfound", "eai_again", "econn", "etimedout", "ehostunreach", "unknownhost", "resolv", "dial ", "connect") {
		text = withoutHosts(text, resolved, kept)
	}
	if containsAny(low, "enotfound", "eai_again", "unknownhost", "lookup ", "resolve host: ", "getaddrinfo for ", "host name ", "connectionpool(") {
		text = withoutHosts(text, bareName, kept)
	}
	if containsAny(low, "localhost", ".internal", ".intranet", ".local", ".lan", ".corp", ".home.arpa", ".svc", ".consul", ".test", ".private") {
		text = privateName.ReplaceAllStringFunc(text, func(found string) string {
			if kept.sent(found) {
				return found
			}
			if strings.HasSuffix(found, ".") {
				return addressPlaceholder + "."
			}
			return addressPlaceholder
		})
	}
	return withoutIPs(text, kept)
}

// withoutURLs removes all but the path of each URL that is not kept, and the secrets of all links.
func withoutURLs(text string, kept *Kept, isJSON bool) string {
	links := linkSecrets{kept}
	if !strings.Contains(text, ":/") && !strings.Contains(text, `:\/`) {
		return links.betweenURLs(text)
	}
	var b strings.Builder
	copied, where := 0, urlPosition{kept: kept, text: text, json: isJSON}
	for _, at := range location.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(links.betweenURLs(text[copied:at[0]]))
		scheme, path := strings.ToLower(text[at[2]:at[3]]), links.path(text[at[6]:at[7]])
		switch {
		case where.keeps(scheme, text[at[4]:at[5]], at[0]):
			b.WriteString(text[at[0]:at[6]] + path + links.query(text[at[7]:at[1]]))
		case scheme == "http" || scheme == "https":
			b.WriteString(addressPlaceholder + path)
		default:
			b.WriteString(addressPlaceholder)
		}
		copied = at[1]
	}
	b.WriteString(links.betweenURLs(text[copied:]))
	return b.String()
}

// withoutHosts removes the host that an expression captures in its second group, unless the caller sent it.
func withoutHosts(text string, host *regexp.Regexp, kept *Kept) string {
	var b strings.Builder
	copied := 0
	for _, at := range host.FindAllStringSubmatchIndex(text, -1) {
		if kept.sent(text[at[4]:at[5]]) {
			continue
		}
		b.WriteString(text[copied:at[4]])
		b.WriteString(addressPlaceholder)
		copied = at[5]
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// withoutIPs removes IP addresses with their ports.
func withoutIPs(text string, kept *Kept) string {
	var b strings.Builder
	copied := 0
	for i := 0; i < len(text); {
		if !isAddressByte(text[i]) {
			if i++; isNameByte(text[i-1]) { // the rest of a name is not an address, but the text after its colon may be
				for i < len(text) && (isNameByte(text[i]) || text[i] == ':' && (i+1 == len(text) || text[i+1] == ':' || text[i-1] == ':' || !isAddressByte(text[i+1]))) {
					i++
				}
			}
			continue
		}
		start := i
		for i < len(text) && isAddressByte(text[i]) {
			i++
		}
		if i < len(text) && (isNameByte(text[i]) || text[i] >= utf8.RuneSelf) {
			for i < len(text) && isNameByte(text[i]) {
				i++
			}
			continue
		}
		from, to := addressIn(text, start, i)
		if from == to || kept.sent(text[from:to]) {
			continue
		}
		b.WriteString(text[copied:from])
		b.WriteString(addressPlaceholder)
		copied, i = to, max(i, to)
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

func isAddressByte(c byte) bool {
	return c == ':' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// addressIn returns the offsets of an address, with its zone, brackets and port, in a run of bytes that may be one;
// both offsets are equal if there is none.
func addressIn(text string, start, end int) (from, to int) {
	const longest = 45 + len(":65535") // an IPv6 address that ends in an IPv4 address
	start, end = trimRun(text, start, end)
	switch run := text[start:end]; {
	case len(run) < len("::1"), len(run) > longest, !strings.ContainsAny(run, digits): // Face::Bead is a name
		return 0, 0
	case isIPv4(run):
		return start, end
	case isIPv6(run):
		return withZone(text, start, end)
	}
	return 0, 0
}

// trimRun removes the punctuation of the sentence from a run, and the name before an address.
func trimRun(text string, start, end int) (from, to int) {
	for end > start && text[end-1] == '.' || end > start+1 && text[end-1] == ':' && text[end-2] != ':' {
		end-- // punctuation of the sentence
	}
	for start+1 < end && text[start] == ':' && text[start+1] != ':' {
		start++ // the colon after a name
	}
	name, rest, found := strings.Cut(text[start:end], ":")
	if found && !strings.Contains(name, ".") && !strings.HasPrefix(rest, ":") && strings.Count(rest, ":") <= 1 && strings.Count(rest, ".") == 3 {
		start += len(name) + 1 // a name that could be a part of an IPv6 address, before an IPv4 address
	}
	return start, end
}

// isIPv4 reports whether a text is an IPv4 address, with or without a port.
func isIPv4(text string) bool {
	host, _, _ := strings.Cut(text, ":")
	if strings.Count(host, ".") != 3 {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isIPv6 reports whether a text is an IPv6 address, with or without a port. Node appends the port to an address without
// brackets.
func isIPv6(text string) bool {
	if strings.Count(text, ":") < 2 {
		return false
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	port := strings.LastIndexByte(text, ':')
	_, err := netip.ParseAddr(text[:port])
	return err == nil && strings.Trim(text[port+1:], digits) == ""
}

// withZone extends the offsets of an IPv6 address by its zone (RFC 4007), its brackets and the port after them.
func withZone(text string, start, end int) (from, to int) {
	from, to = start, end
	if to < len(text) && text[to] == '%' {
		for to++; to < len(text) && isNameByte(text[to]); to++ {
		}
	}
	if from > 0 && text[from-1] == '[' && to < len(text) && text[to] == ']' {
		from, to = from-1, to+1
		if to < len(text) && text[to] == ':' {
			for to++; to < len(text) && text[to] >= '0' && text[to] <= '9'; to++ {
			}
		}
	}
	return from, to
}
