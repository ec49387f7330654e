package audit

import "strings"

// Principal returns a principal's id for the program's own log. id is "issuer|subject", as auth.Principal.ID returns it. Its subject is
// hashed, plain or absent, as in the lines of l and with the same hash. A nil Log returns id unchanged.
func (l *Log) Principal(id string) string {
	issuer, subject, ok := strings.Cut(id, "|")
	if l == nil || !ok || l.o.Subject == PlainSubject {
		return id
	}
	if l.o.Subject == NoSubject {
		return issuer
	}
	return string(l.hashes.appendSubject([]byte(issuer+"|"), issuer, subject))
}
