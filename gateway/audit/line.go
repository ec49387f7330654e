package audit

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// Line is the record of a call that has ended, or of a request or connection that was denied
// before. Texts may come from clients: they are truncated and escaped.
type Line struct {
	// Time is when the call began.
	Time time.Time
	// Request is the id of the HTTP request of the call, Trace the id of its trace; either may be
	// empty.
	Request, Trace string
	// Call is the id of the HTTP request in which the call began, if the user was asked and that is
	// another one; else "". Asked is how often the user was asked.
	Call  string
	Asked int
	// Parent identifies the call that this one is a step of; "" if it is none.
	Parent string
	// Credential is the kind of the caller's credential, such as "jwt" or "api_key"; "" without one.
	Credential string
	// Issuer, Subject and Client are those of the caller's token or key. Subject is hashed according
	// to the options.
	Issuer, Subject, Client string
	// Scopes are the scopes of the token.
	Scopes []string
	// Operator is the operator that made the call in the console, without a token; "" for calls of clients.
	Operator string
	// Endpoint is the name of the endpoint, "" for the main one.
	Endpoint string
	// RPC is the JSON-RPC method of the call, such as tools/call. Protocol is the revision of MCP, and Session the digest of the
	// session id; "" if the call belongs to no session.
	RPC, Protocol, Session string
	// Tool, API, Method and Path identify the called tool; Path is a template.
	Tool, API, Method, Path string
	// Via is the name of the built-in tool through which the tool was called; "" if it was called by
	// its own name.
	Via string
	// Arguments are a JSON text, or nil; Shown is the same without values that must not be logged,
	// and is used for fields only.
	Arguments, Shown []byte
	// Dropped are JSON Pointers of arguments that were removed from the call.
	Dropped []string
	// Address is the client address of a request that was denied early; it is not set for calls.
	Address netip.Addr
	// Reason is the reason that a request or connection was denied, from a closed set. It is more specific than Outcome; "" for calls.
	Reason string
	// Answered is the HTTP status of the gateway's response to a denied request; 0 for a call or a
	// Connection.
	Answered int
	// Connection marks the line of a connection that was closed before anything was read from it.
	Connection bool
	// More is the number of denied requests or connections of the same kind after the first, within
	// Duration since Time; 0 for a line about a single one. See [Log.Refuse].
	More int64
	// Decision reports whether the call was permitted, Outcome its result.
	Decision Decision
	Outcome  string
	// Cache is the outcome of the response cache; "" if it was not used.
	Cache string
	// Status is the status of the last response of the service, 0 if there was none.
	Status int
	// Requests is the number of requests that the service received.
	Requests int
	// Redirects is the number of them that followed a redirect of the service.
	Redirects int
	// Sent and Received are the bytes of bodies, to the service and, decoded, from it.
	Sent, Received int64
	// Delivered are the bytes of the texts of the result. Tokens are those of the result, if they were counted; else 0.
	Delivered int64
	Tokens    int
	// Duration is the time of the whole call.
	Duration time.Duration
}

// sent reports whether the line is that of a call that was sent to a service or answered from a cache.
func (l *Line) sent() bool { return l.Requests > 0 || l.Cache != "" }

// Decision is the decision on whether a call is permitted.
type Decision string

// Values of [Decision].
const (
	Allowed Decision = "allowed"
	Refused Decision = "refused"
)

// Limits of texts in a line, in bytes; escapes may double them.
const (
	maxText    = 256 // of issuers, subjects, clients, paths
	maxName    = 128 // of tools, scopes, request ids
	maxScopes  = 32
	maxDropped = 24
	maxValue   = 256 // of a field
)

// append appends the line with its line feed. Members without a value are omitted.
func (l *Line) append(dst []byte, o *Options, h *hashes) []byte {
	dst = append(dst, `{"time":"`...)
	dst = appendTime(dst, l.Time.UTC())
	dst = append(dst, '"')
	dst = member(dst, "request", l.Request, maxName)
	dst = member(dst, "trace", l.Trace, maxName)
	dst = member(dst, "call", l.Call, maxName)
	dst = member(dst, "parent", l.Parent, maxName)
	dst = member(dst, "credential", l.Credential, maxName)
	dst = member(dst, "issuer", l.Issuer, maxText)
	switch {
	case l.Subject == "" || o.Subject == NoSubject:
	case o.Subject == PlainSubject:
		dst = member(dst, "subject", l.Subject, maxText)
	default:
		dst = append(dst, `,"subject_hash":"`...)
		dst = append(h.appendSubject(dst, l.Issuer, l.Subject), '"')
	}
	dst = member(dst, "client", l.Client, maxText)
	dst = member(dst, "operator", l.Operator, maxText)
	if len(l.Scopes) > 0 {
		dst = list(append(dst, `,"scopes":`...), l.Scopes[:min(len(l.Scopes), maxScopes)], maxName)
		if len(l.Scopes) > maxScopes {
			dst = number(dst, "scopes_in_all", int64(len(l.Scopes)))
		}
	}
	if l.Address.IsValid() {
		dst = member(dst, "address", l.Address.String(), maxName)
	}
	dst = member(dst, "endpoint", l.Endpoint, maxName)
	dst = member(dst, "rpc", l.RPC, maxName)
	dst = member(dst, "protocol", l.Protocol, maxName)
	dst = member(dst, "session", l.Session, maxName)
	dst = member(dst, "tool", l.Tool, maxName)
	dst = member(dst, "via", l.Via, maxName)
	dst = member(dst, "api", l.API, maxName)
	dst = member(dst, "method", l.Method, maxName)
	dst = member(dst, "path", l.Path, maxText)
	if l.Arguments != nil && !o.NoDigest {
		dst = append(dst, `,"arguments_hash":"`...)
		dst = append(h.appendArguments(dst, l.Arguments), '"')
	}
	if len(l.Dropped) > 0 {
		dst = list(append(dst, `,"dropped":`...), l.Dropped[:min(len(l.Dropped), maxDropped)], maxName)
		if len(l.Dropped) > maxDropped {
			dst = number(dst, "dropped_in_all", int64(len(l.Dropped)))
		}
	}
	if len(o.Fields) > 0 && l.Answered == 0 && !l.Connection {
		dst = l.appendFields(dst, o.Fields)
	}
	dst = member(dst, "decision", string(l.Decision), maxName)
	dst = member(dst, "outcome", l.Outcome, maxName)
	dst = member(dst, "reason", l.Reason, maxName)
	if l.Asked > 0 {
		dst = number(dst, "asked", int64(l.Asked))
	}
	if l.Answered != 0 {
		dst = number(dst, "answered", int64(l.Answered))
	}
	if l.More > 0 {
		dst = number(dst, "more", l.More)
	}
	dst = member(dst, "cache", l.Cache, maxName)
	if l.Status != 0 {
		dst = number(dst, "status", int64(l.Status))
	}
	if l.Requests > 0 {
		dst = number(dst, "requests", int64(l.Requests))
		if l.Redirects > 0 {
			dst = number(dst, "redirects", int64(l.Redirects))
		}
		dst = number(dst, "bytes_sent", l.Sent)
		dst = number(dst, "bytes_received", l.Received)
	}
	if l.Delivered > 0 {
		dst = number(dst, "result_bytes", l.Delivered)
	}
	if l.Tokens > 0 {
		dst = number(dst, "result_tokens", int64(l.Tokens))
	}
	dst = append(dst, `,"duration_ms":`...)
	dst = strconv.AppendFloat(dst, float64(max(0, l.Duration).Microseconds())/1000, 'f', -1, 64)
	dst = member(dst, "replica", o.Replica, maxName)
	return append(dst, '}', '\n')
}

// appendTime appends RFC 3339 with milliseconds. AppendFormat, which parses its layout each time,
// would take a sixth of the time for a line.
func appendTime(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(digits(digits(dst, year/100), year%100), '-')
	dst = append(digits(dst, int(month)), '-')
	dst = append(digits(dst, day), 'T')
	dst = append(digits(dst, hour), ':')
	dst = append(digits(dst, minute), ':')
	dst = append(digits(dst, second), '.')
	millis := t.Nanosecond() / int(time.Millisecond)
	return append(digits(append(dst, '0'+byte(millis/100)), millis%100), 'Z')
}

func digits(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }

// appendFields appends the configured fields of the arguments by their pointers: scalars as they
// are, and a placeholder for objects, arrays and long values.
func (l *Line) appendFields(dst []byte, fields []string) []byte {
	dst = append(dst, `,"fields":{`...)
	first := true
	for _, pointer := range fields {
		value := jsonscan.At(l.Shown, pointer)
		if value == nil {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(text(dst, pointer, maxText), ':')
		switch kind := jsonscan.KindOf(value); {
		case kind == jsonscan.String:
			dst = text(dst, string(jsonscan.Unquote(value)), maxValue)
		case kind == jsonscan.Object || kind == jsonscan.Array || len(value) > maxValue:
			dst = append(dst, `"(`...)
			dst = append(append(dst, kind.String()...), `)"`...)
		default:
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// member appends a member whose value has at most most bytes. A member without a value is omitted.
func member(dst []byte, name, value string, most int) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(append(dst, name...), '"', ':')
	return text(dst, value, most)
}

// list appends an array of texts, each of at most most bytes.
func list(dst []byte, texts []string, most int) []byte {
	dst = append(dst, '[')
	for i, one := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = text(dst, one, most)
	}
	return append(dst, ']')
}

func number(dst []byte, name string, n int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(append(dst, name...), '"', ':')
	return strconv.AppendInt(dst, n, 10)
}

// cutMark is put at the end of a truncated text.
const cutMark = "…"

// text appends a JSON string of at most most bytes, or twice that with escapes. It escapes
// everything that could end a line, move a cursor or reorder characters in a terminal or an editor,
// including line separators other than CR and LF.
func text(dst []byte, s string, most int) []byte {
	short := len(s) > most
	if short {
		s = s[:most]
	}
	dst = append(dst, '"')
	if plain(s) {
		dst = append(dst, s...)
	} else {
		var all bool
		dst, all = escaped(dst, strings.ToValidUTF8(s, "\uFFFD"), 2*most)
		short = short || !all
	}
	if short {
		dst = append(dst, cutMark...)
	}
	return append(dst, '"')
}

// plain reports whether a text is printable ASCII that needs no escapes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// escaped appends a text with escapes, up to most bytes; it returns false if the text was longer.
func escaped(dst []byte, s string, most int) ([]byte, bool) {
	end := len(dst) + most
	for _, r := range s {
		switch {
		case len(dst) >= end:
			return dst, false
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
		case r > 0xFFFF:
			r -= 0x10000
			dst = unit(unit(dst, 0xD800+r>>10), 0xDC00+r&0x3FF)
		default:
			dst = unit(dst, r)
		}
	}
	return dst, true
}

// unit appends a UTF-16 code unit as an escape of JSON.
func unit(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
