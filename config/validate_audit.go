package config

import (
	"fmt"
	"slices"
)

// maxAuditFields bounds the fields of a line, and so the line.
const maxAuditFields = 16

func (l *loader) audit(cfg *Config) {
	a := cfg.Audit
	if a == nil || l.faulty("audit") {
		return
	}
	if !a.HashKey.IsZero() && len(a.HashKey.Reveal()) < 32 {
		l.errorf("audit.hash_key", "must have at least 32 characters; openssl rand -base64 32 makes a good one")
	}
	if !a.HashKey.IsZero() && a.Subject != SubjectHash && a.Arguments != ArgumentsDigest {
		l.errorf("audit.hash_key", "has no effect: neither subjects nor arguments are hashed")
	}
	if n := len(a.Fields); n > maxAuditFields {
		l.errorf("audit.fields", "has %d fields, more than %d", n, maxAuditFields)
	}
	for i, p := range a.Fields {
		if slices.Contains(a.Fields[:i], p) {
			l.errorf(fmt.Sprintf("audit.fields[%d]", i), "is listed twice")
		}
	}
}
