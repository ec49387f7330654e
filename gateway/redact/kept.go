package redact

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"drawbridge/openapi/jsonscan"
)

// Kept lists the URLs and addresses that stay in an error, because they reveal nothing about the internal network:
// those that the caller sent, and links that help the user to proceed. nil keeps none.
type Kept struct {
	// Document holds the hosts that the document names for its readers.
	Document *Hosts
	// Sent holds the hosts and addresses in the arguments of the call.
	Sent *Hosts
	// Links keeps https URLs of every public host, unless they are part of a message about a failed connection. It is
	// for 4xx errors, which are addressed to the client: a 5xx error names the systems behind the service.
	Links bool
}

// Hosts is a set of host names and IP addresses. It is immutable; nil is empty.
type Hosts struct {
	names  map[string]bool // public names
	inside map[string]bool // addresses, and names that may belong to a private network
}

// NewPublicHosts returns the hosts whose names are public; nil if none are.
func NewPublicHosts(hosts []string) *Hosts {
	h := newHosts()
	for _, host := range hosts {
		if host = hostName(host); isPublicName(host) {
			h.names[host] = true
		}
	}
	if len(h.names) == 0 {
		return nil
	}
	return h
}

func newHosts() *Hosts { return &Hosts{names: map[string]bool{}, inside: map[string]bool{}} }

// Limits of the search for hosts in the arguments of a call.
const (
	maxArguments = 64 << 10 // bytes
	maxSentNames = 100
	// maxSentInside limits how many addresses and private names count as sent. Without it, a caller could send all
	// addresses of a network, and learn from those that stay in the error which of them the service names.
	maxSentInside = 16
)

// NewSentHosts returns the hosts and addresses in the JSON arguments of a call, which may be URL-encoded; nil if there
// are none. If there are more than 16 addresses and private names, none of these counts as sent.
func NewSentHosts(arguments []byte) *Hosts {
	if len(arguments) > maxArguments {
		return nil
	}
	h := newHosts()
	h.addValue(arguments, 0)
	if len(h.inside) > maxSentInside {
		h.inside = nil
	}
	if len(h.names)+len(h.inside) == 0 {
		return nil
	}
	return h
}

// addValue adds the hosts in the strings of a JSON value.
func (h *Hosts) addValue(v []byte, depth int) {
	if depth > jsonscan.DefaultMaxDepth {
		return
	}
	switch jsonscan.KindOf(v) {
	case jsonscan.Object:
		for _, member := range jsonscan.Members(v) {
			h.addValue(member, depth+1)
		}
	case jsonscan.Array:
		for element := range jsonscan.Elements(v) {
			h.addValue(element, depth+1)
		}
	case jsonscan.String:
		text := string(jsonscan.Unquote(v))
		h.addText(text)
		if strings.Contains(text, "%") {
			if decoded, err := url.QueryUnescape(text); err == nil {
				h.addText(decoded)
			}
		}
	default:
	}
}

// sentHost matches a possible host in an argument: the authority of a URL, a name with dots, a name with a port, an
// IPv6 address.
var sentHost = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s/?#@"'<>\\]*@)?(\[[0-9A-Fa-f:.%]+\]|[^\s/?#@:"'<>\\\[\],;)]+)|([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)|` +
	`([A-Za-z][A-Za-z0-9_-]*:\d{2,5})\b|([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:[:.][0-9.]+)?)`)

// addText adds the hosts in a text.
func (h *Hosts) addText(text string) {
	for len(text) > 0 && len(h.names) < maxSentNames {
		at := sentHost.FindStringSubmatchIndex(text)
		if at == nil {
			return
		}
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				h.add(hostName(text[at[group]:at[group+1]]))
			}
		}
		text = text[at[1]:]
	}
}

// add adds a host in its canonical form. A decimal number and a time of day are not hosts.
func (h *Hosts) add(host string) {
	_, err := netip.ParseAddr(host)
	switch {
	case isPublicName(host):
		h.names[host] = true
	case len(h.inside) <= maxSentInside && (err == nil || strings.Trim(host, digits+".:") != ""):
		h.inside[host] = true
	}
}

// has reports whether the set contains a host, which may have a port.
func (h *Hosts) has(host string) bool {
	if h == nil {
		return false
	}
	host = hostName(host)
	return h.names[host] || h.inside[host]
}

// hostName returns the canonical form of a host: in lower case, without port, brackets, zone and final dot.
func hostName(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if rest, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(rest, "]")
	} else if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	if strings.Contains(host, ":") {
		host, _, _ = strings.Cut(host, "%") // the zone of an IPv6 address
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	if port := strings.LastIndexByte(host, ':'); port >= 0 { // Node writes the port after an address without brackets
		if a, err := netip.ParseAddr(host[:port]); err == nil && allDigits(host[port+1:]) {
			return a.Unmap().String()
		}
	}
	return host
}

// internalLabels are labels that mark a name as private, though its suffix may be public.
var internalLabels = []string{
	"internal", "intranet", "int", "intra", "corp", "private", "priv", "privatelink", "svc", "cluster", "k8s", "kube", "lan", "local", "localhost", "localdomain", "consul", "vpc",
	"rds", "elb", "compute", "cache", "node", "pod", "ec2", "onion", "test", "invalid", "arpa",
}

// isPublicName reports whether a host, in its canonical form, is a name of the public domain name system without a
// label that marks it as private.
func isPublicName(host string) bool {
	labels := strings.Split(host, ".")
	if len(host) > 253 || len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || strings.Trim(label, letters+digits+"-_") != "" || slices.Contains(internalLabels, label) || strings.HasPrefix(label, "ip-") || strings.HasPrefix(label, "vpce-") {
			return false
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, letters) != "" && !strings.HasPrefix(last, "xn--") {
		return false
	}
	// Names in a cluster, such as orders.default, look like domains. Only the public suffix list distinguishes them.
	suffix, managed := publicsuffix.PublicSuffix(host)
	return managed || strings.Contains(suffix, ".") || suffix == exampleTLD
}

// exampleTLD is the top-level domain of examples (RFC 2606), which is not on the public suffix list.
const exampleTLD = "example"

// connectionFailure matches messages about a failed request between machines. The URLs in such a message are those that the
// service called, and don't help the user.
var connectionFailure = regexp.MustCompile(`(?i)\b(?:dial (?:tcp|udp|unix)|lookup [a-z0-9.-]+(?: on |:)|no such host|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|EHOSTUNREACH|EPIPE|connection (?:was )?(?:refused|reset|closed|aborted|lost)|` +
	`actively refused|reset by peer|timed? ?out|timeout|unreachable|(?:can't|can not|cannot|could not|couldn't|unable to|fail(?:ed|s|ure)? to) (?:be reached|connect|reach|fetch|contact|resolve (?:host|name|address|dns))|` +
	`upstream|backend|x509|handshake|socket|EOF|proxy|i/o|connectionpool|max retries|unknownhost[a-z]*|connect(?:ion)?(?:error|exception|timeout)[a-z]*|bad gateway|` +
	`(?:GET|POST|PUT|PATCH|DELETE|HEAD|call(?:ing|ed)?|call (?:to|of)|response from|status (?:code )?\d{3} (?:from|for)|I/O error on [A-Z]+ request for) [\\"']*https?:|request (?:for|to) [\\"']*https?:\S+ (?:was |has )?fail|returned (?:http |status |code )*[45]\d\d)`)

// sent reports whether the caller sent a host; k may be nil.
func (k *Kept) sent(host string) bool { return k != nil && k.Sent.has(host) }

// urlPosition locates a URL in a text that the patterns search.
type urlPosition struct {
	kept *Kept
	text string
	json bool // quotes delimit JSON strings

	// The line, or the JSON string, that was examined last, and the result. Adjacent URLs share it, so that the total
	// time stays proportional to the length of the text.
	from, to int
	failed   bool
}

// keeps reports whether the URL at an offset stays; host is its authority.
func (p *urlPosition) keeps(scheme, host string, at int) bool {
	k := p.kept
	return k.keeps(scheme, host) && (k.Sent.has(host) || k.Document.has(host) && usualPort(host) || !p.reportsFailure(at))
}

// keeps reports whether a URL stays outside messages about a failed connection; k may be nil.
func (k *Kept) keeps(scheme, host string) bool {
	switch {
	case k == nil || host == "" || strings.Contains(host, "@"):
		return false
	case k.Sent.has(host):
		return true
	case scheme != "http" && scheme != "https" || !usualPort(host):
		return false
	case k.Document.has(host):
		return true
	}
	return k.Links && scheme == "https" && isPublicName(hostName(host))
}

// usualPort reports whether a host has no port, or the default port of http or https.
func usualPort(host string) bool {
	at := strings.LastIndexByte(host, ':')
	return at < 0 || host[at:] == ":443" || host[at:] == ":80"
}

// reportsFailure reports whether the line at an offset is about a failed connection.
func (p *urlPosition) reportsFailure(at int) bool {
	if p.from <= at && at < p.to {
		return p.failed
	}
	p.from, p.to = at, at
	for p.from > 0 && !p.ends(p.from-1) {
		p.from--
	}
	for p.to < len(p.text) && !p.ends(p.to) {
		p.to++
	}
	p.failed = connectionFailure.MatchString(p.text[p.from:p.to])
	return p.failed
}

// ends reports whether a line, or a JSON string, ends at an offset.
func (p *urlPosition) ends(at int) bool {
	switch p.text[at] {
	case '\n', '\r', lineFeed[0], carriage[0]:
		return true
	case '"':
		return p.json && (at == 0 || p.text[at-1] != '\\')
	}
	return false
}
