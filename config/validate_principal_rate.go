package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxPrincipalRates bounds what a new token is compared with, and the headers that are made beforehand.
const maxPrincipalRates = 256

func (l *loader) principalRates(cfg *Config) {
	const list = "limits.principal_rates"
	all := cfg.Limits.PrincipalRates
	if len(all) == 0 {
		return
	}
	if n := len(all); n > maxPrincipalRates {
		l.errorf(list, "has %d items, more than %d", n, maxPrincipalRates)
		return
	}
	if (cfg.Auth == nil || len(cfg.Auth.Issuers) == 0) && l.ok("auth", "auth.issuers", "auth.anonymous") {
		l.warnf(list, "has no effect: without auth.issuers nobody is asked for a token")
	}
	for i := range all {
		m, key := &all[i].Match, fmt.Sprintf("%s[%d].match", list, i)
		l.principalMatch(cfg, key, m)
		if own := fmt.Sprintf("%s[%d]", list, i); !all[i].On() {
			for _, of := range []string{".burst", ".per"} {
				if l.given(own+of) && l.ok(own+of) {
					l.errorf(own+of, "says nothing where the rate is off; leave it out")
				}
			}
		}
		same := func(other PrincipalRate) bool { return reflect.DeepEqual(other.Match, *m) }
		switch first := slices.IndexFunc(all[:i], same); {
		case !l.ok(key) || l.faulty(key):
		case len(m.Issuer)+len(m.ClientID)+len(m.Subject)+len(m.Claims) == 0:
			l.errorf(key, "matches nobody: give issuer, client_id, subject or claims, or leave the item out, as limits.principal_rate is for all others")
		case first >= 0:
			l.errorf(key, "is that of limits.principal_rates[%d], which holds", first)
		}
	}
}

func (l *loader) principalMatch(cfg *Config, key string, m *PrincipalMatch) {
	l.oneOf(key+".issuer", m.Issuer)
	l.oneOf(key+".client_id", m.ClientID)
	l.oneOf(key+".subject", m.Subject)
	for n, issuer := range m.Issuer {
		k := patternKey(l, key+".issuer", n)
		known := func(is Issuer) bool { return is.Issuer.String() == issuer }
		if l.ok(k) && cfg.Auth != nil && len(cfg.Auth.Issuers) > 0 && !slices.ContainsFunc(cfg.Auth.Issuers, known) {
			l.errorf(k, "%s is none of auth.issuers", quote(issuer))
		}
	}
	for name, values := range m.Claims {
		k := key + ".claims." + name
		if strings.Trim(name, "/") == "" && l.ok(k) {
			l.errorf(k, "must be the name of a claim or a JSON Pointer, such as /org/id")
		}
		l.oneOf(k, values)
	}
}

// oneOf checks a list of values.
func (l *loader) oneOf(key string, values Values) {
	if l.given(key) && len(values) == 0 && l.ok(key) {
		l.errorf(key, "is empty; leave it out, or give a value")
	}
	for n, v := range values {
		if k := patternKey(l, key, n); l.ok(k) && slices.Contains(values[:n], v) {
			l.errorf(k, "%s is listed twice", quote(v))
		}
	}
}
