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

// Kept says which URLs and addresses stay in an error, because they tell the caller nothing about what is inside: those that the caller
// sent, and links by which a user gets on. nil keeps none.
type Kept struct {
	// Document are the hosts that the document names for its readers.
	Document *Hosts
	// Sent are the hosts and addresses in the arguments of the call.
	Sent *Hosts
	// Links keeps URLs with https of every public host, unless they stand in words about a failed connection. It is for errors that
	// are addressed to the client, 4xx: a service in trouble names what is behind it.
	Links bool
}

// Hosts are names of hosts and IP addresses. They are immutable; nil has none.
type Hosts struct {
	names  map[string]bool // public ones
	inside map[string]bool // addresses, and names that may be those of a network inside
}

// NewPublicHosts returns those of some hosts that are public by their names, nil if none are.
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

// Limits of what is searched for hosts in the arguments of a call.
const (
	maxArguments = 64 << 10 // bytes
	maxSentNames = 100
	// maxSentInside bounds how many addresses and names of networks inside count as sent. Without it, a caller could send all
	// addresses of a network, and learn from what stays in the error which of them the service names.
	maxSentInside = 16
)

// NewSentHosts returns the hosts and addresses in the arguments of a call, JSON, which a caller may have encoded for a URL; nil if there
// are none. With more than 16 addresses and names of networks inside, none of these counts as sent.
func NewSentHosts(arguments []byte) *Hosts {
	if len(arguments) > maxArguments {
		return nil
	}
	h := newHosts()
	h.value(arguments, 0)
	if len(h.inside) > maxSentInside {
		h.inside = nil
	}
	if len(h.names)+len(h.inside) == 0 {
		return nil
	}
	return h
}

// value adds the hosts in the strings of a JSON value.
func (h *Hosts) value(v []byte, depth int) {
	if depth > jsonscan.DefaultMaxDepth {
		return
	}
	switch jsonscan.KindOf(v) {
	case jsonscan.Object:
		for _, member := range jsonscan.Members(v) {
			h.value(member, depth+1)
		}
	case jsonscan.Array:
		for element := range jsonscan.Elements(v) {
			h.value(element, depth+1)
		}
	case jsonscan.String:
		text := string(jsonscan.Unquote(v))
		h.text(text)
		if strings.Contains(text, "%") {
			if decoded, err := url.QueryUnescape(text); err == nil {
				h.text(decoded)
			}
		}
	default:
	}
}

// sentHost finds what may be a host in an argument: the authority of a URL, a name with dots, a name with a port, an IPv6 address.
var sentHost = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s/?#@"'<>\\]*@)?(\[[0-9A-Fa-f:.%]+\]|[^\s/?#@:"'<>\\\[\],;)]+)|([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)|` +
	`([A-Za-z][A-Za-z0-9_-]*:\d{2,5})\b|([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:[:.][0-9.]+)?)`)

// text adds the hosts in a text.
func (h *Hosts) text(text string) {
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

// add adds a host in its usual form. A number with a point and a time of day are none.
func (h *Hosts) add(host string) {
	_, err := netip.ParseAddr(host)
	switch {
	case isPublicName(host):
		h.names[host] = true
	case len(h.inside) <= maxSentInside && (err == nil || strings.Trim(host, digits+".:") != ""):
		h.inside[host] = true
	}
}

// has reports whether a host, which may have a port, is one of them.
func (h *Hosts) has(host string) bool {
	if h == nil {
		return false
	}
	host = hostName(host)
	return h.names[host] || h.inside[host]
}

// hostName returns a host in its usual form: in lower case, without port, brackets, zone and final dot.
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
	if port := strings.LastIndexByte(host, ':'); port >= 0 { // as Node writes it, without brackets
		if a, err := netip.ParseAddr(host[:port]); err == nil && allDigits(host[port+1:]) {
			return a.Unmap().String()
		}
	}
	return host
}

// insideLabels are parts of names that networks inside have, though their ends may be public.
var insideLabels = []string{
	"internal", "intranet", "int", "intra", "corp", "private", "priv", "privatelink", "svc", "cluster", "k8s", "kube", "lan", "local", "localhost", "localdomain", "consul", "vpc",
	"rds", "elb", "compute", "cache", "node", "pod", "ec2", "onion", "test", "invalid", "arpa",
}

// isPublicName reports whether a host is one that everybody may know by its name, which must be in the usual form: a name of the domain name
// system in which nothing says that it is inside.
func isPublicName(host string) bool {
	labels := strings.Split(host, ".")
	if len(host) > 253 || len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || strings.Trim(label, letters+digits+"-_") != "" || slices.Contains(insideLabels, label) || strings.HasPrefix(label, "ip-") || strings.HasPrefix(label, "vpce-") {
			return false
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, letters) != "" && !strings.HasPrefix(last, "xn--") {
		return false
	}
	// A name may end as those of a cluster do, orders.default. Only a list tells that from a domain.
	suffix, managed := publicsuffix.PublicSuffix(host)
	return managed || strings.Contains(suffix, ".") || suffix == documentation
}

// documentation is the top-level domain of examples (RFC 2606), which is on no list.
const documentation = "example"

// trouble finds words about a request between machines that failed. The URLs beside them are where the service called, and lead no user on.
var trouble = regexp.MustCompile(`(?i)\b(?:dial (?:tcp|udp|unix)|lookup [a-z0-9.-]+(?: on |:)|no such host|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|EHOSTUNREACH|EPIPE|connection (?:was )?(?:refused|reset|closed|aborted|lost)|` +
	`actively refused|reset by peer|timed? ?out|timeout|unreachable|(?:can't|can not|cannot|could not|couldn't|unable to|fail(?:ed|s|ure)? to) (?:be reached|connect|reach|fetch|contact|resolve (?:host|name|address|dns))|` +
	`upstream|backend|x509|handshake|socket|EOF|proxy|i/o|connectionpool|max retries|unknownhost[a-z]*|connect(?:ion)?(?:error|exception|timeout)[a-z]*|bad gateway|` +
	`(?:GET|POST|PUT|PATCH|DELETE|HEAD|call(?:ing|ed)?|call (?:to|of)|response from|status (?:code )?\d{3} (?:from|for)|I/O error on [A-Z]+ request for) [\\"']*https?:|request (?:for|to) [\\"']*https?:\S+ (?:was |has )?fail|returned (?:http |status |code )*[45]\d\d)`)

// sent reports whether the caller sent a host; k may be nil.
func (k *Kept) sent(host string) bool { return k != nil && k.Sent.has(host) }

// A place is where a URL stands in a text that the patterns look at.
type place struct {
	kept *Kept
	text string
	json bool // quotes are those of strings

	// The line, or the string of JSON, that was looked at last, and what was found. URLs beside each other share it, so that the time
	// for all stays in proportion to the text.
	from, to int
	failed   bool
}

// keeps reports whether the URL at an offset stays; host is its authority.
func (p *place) keeps(scheme, host string, at int) bool {
	k := p.kept
	return k.keeps(scheme, host) && (k.Sent.has(host) || k.Document.has(host) && usualPort(host) || !p.tellsOfTrouble(at))
}

// keeps reports whether a URL stays if no words about a failed connection stand beside it; k may be nil.
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

// usualPort reports whether a host has no port but that of its scheme.
func usualPort(host string) bool {
	at := strings.LastIndexByte(host, ':')
	return at < 0 || host[at:] == ":443" || host[at:] == ":80"
}

// tellsOfTrouble reports whether the line at an offset has words about a failed connection.
func (p *place) tellsOfTrouble(at int) bool {
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
	p.failed = trouble.MatchString(p.text[p.from:p.to])
	return p.failed
}

// ends reports whether a line ends at an offset, or a string of JSON.
func (p *place) ends(at int) bool {
	switch p.text[at] {
	case '\n', '\r', lineFeed[0], carriage[0]:
		return true
	case '"':
		return p.json && (at == 0 || p.text[at-1] != '\\')
	}
	return false
}
