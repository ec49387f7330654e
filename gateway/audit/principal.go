package audit

import "strings"

// Principal returns the name of a principal, as auth.Principal.ID makes it, as the program's own log may have it: the subject is hashed, plain or
// absent as in the lines of l, with the same hash. A nil Log returns it unchanged.
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
