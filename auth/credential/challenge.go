package credential

import (
	"net/http"
	"strings"
)

// challenge is an authentication challenge of a 401 (RFC 9110 section 11.6.1).
type challenge struct {
	scheme     string            // lower case
	parameters map[string]string // by lower-case name; nil for none or a token68
}

// Limits on a header from a service.
const (
	maxChallengeBytes = 8 << 10
	maxChallenges     = 16
	maxParameters     = 32
)

// blamesToken reports whether a 401 may be caused by the token. A service that reports another
// defect, or requires another scheme, would answer the next token in the same way. Without a
// readable challenge the token may be the cause.
func blamesToken(h http.Header) bool {
	challenges, ok := parseChallenges(h["Www-Authenticate"])
	if !ok || len(challenges) == 0 {
		return true
	}
	for _, c := range challenges {
		if c.scheme == "bearer" {
			code := c.parameters["error"]
			return code != "insufficient_scope" && code != "invalid_request" // RFC 6750 section 3.1
		}
	}
	return false
}

// parseChallenges parses the values of WWW-Authenticate; it returns false if they violate RFC 9110
// section 11.6.1 or the limits.
func parseChallenges(values []string) ([]challenge, bool) {
	var all []challenge
	total := 0
	for _, value := range values {
		if total += len(value); total > maxChallengeBytes {
			return nil, false
		}
		p := scanner{rest: value}
		for {
			p.skipCommas()
			if p.rest == "" {
				break
			}
			name := p.token()
			if name == "" {
				return nil, false
			}
			space := p.skipSpace()
			if p.peek() == '=' { // a parameter of the preceding challenge
				if len(all) == 0 || !p.parameter(&all[len(all)-1], name) {
					return nil, false
				}
				continue
			}
			if len(all) == maxChallenges {
				return nil, false
			}
			all = append(all, challenge{scheme: strings.ToLower(name)})
			switch {
			case p.rest == "" || p.peek() == ',':
			case !space:
				return nil, false
			case p.token68():
			default:
				first := p.token()
				p.skipSpace()
				if first == "" || p.peek() != '=' || !p.parameter(&all[len(all)-1], first) {
					return nil, false
				}
			}
		}
	}
	return all, true
}

// scanner scans a header field from its start.
type scanner struct{ rest string }

func (p *scanner) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *scanner) skipSpace() bool {
	before := len(p.rest)
	p.rest = strings.TrimLeft(p.rest, " \t")
	return len(p.rest) < before
}

// skipCommas skips the separators of a list, including those of empty members.
func (p *scanner) skipCommas() { p.rest = strings.TrimLeft(p.rest, " \t,") }

func (p *scanner) token() string {
	n := 0
	for n < len(p.rest) && isTokenByte(p.rest[n]) {
		n++
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return text
}

// token68 skips a token68, and reports whether there was one.
func (p *scanner) token68() bool {
	n := 0
	for n < len(p.rest) && (isTokenByte(p.rest[n]) && strings.IndexByte("!#$%&'*^`|", p.rest[n]) < 0 || p.rest[n] == '/') {
		n++
	}
	if n == 0 {
		return false
	}
	after := strings.TrimLeft(p.rest[n:], "=")
	if end := strings.TrimLeft(after, " \t"); end != "" && end[0] != ',' {
		return false
	}
	p.rest = after
	return true
}

// parameter parses "=" and a value, a token or a quoted string. A duplicate makes the whole
// challenge invalid.
func (p *scanner) parameter(c *challenge, name string) bool {
	p.rest = p.rest[1:]
	p.skipSpace()
	value, ok := "", false
	if p.peek() == '"' {
		value, ok = p.quoted()
	} else {
		value = p.token()
		ok = value != ""
	}
	if p.skipSpace(); !ok || p.rest != "" && p.peek() != ',' {
		return false
	}
	name = strings.ToLower(name)
	if _, twice := c.parameters[name]; twice || len(c.parameters) == maxParameters {
		return false
	}
	if c.parameters == nil {
		c.parameters = make(map[string]string)
	}
	c.parameters[name] = value
	return true
}

// quoted parses a quoted-string (RFC 9110 section 5.6.4).
func (p *scanner) quoted() (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(p.rest):
			i++
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
