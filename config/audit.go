package config

import (
	"fmt"
	"slices"
)

// Audit is the audit log: one line for each call, and some for requests that are refused, apart from the log of the program.
type Audit struct {
	// The file to which lines are appended. It is made with mode 0600, and opened anew when it was renamed or removed, and on
	// SIGHUP. The gateway never reads it. Best not in the folder of the configuration, in which the gateway looks at each change of a file.
	File File `yaml:"file,omitempty" absent:"standard output"`
	// What keys the hashes of subjects and arguments (HMAC-SHA256), at least 32 characters. Without a key nobody can tell
	// whether two hashes of two starts, or of two replicas, are of the same thing.
	HashKey Secret `yaml:"hash_key,omitempty" absent:"random at each start"`
	// How the subject of a token is written: hash, plain as it is, or none.
	Subject AuditSubject `yaml:"subject" default:"hash"`
	// How the arguments of a call are written: digest, which is a keyed hash of all of them, or none.
	Arguments AuditArguments `yaml:"arguments" default:"digest"`
	// The arguments that are written as they are, besides, as JSON Pointers; at most 16. What sensitive_fields hides of answers is
	// hidden of them too.
	Fields []Pointer `yaml:"fields,omitempty" absent:"none"`
	// Tells of requests that are refused before it is known what they want, for a token, a rate, a host or want of room, and of connections
	// that are too many. The first of a kind has a line, and the others of its minute one together.
	Refusals bool `yaml:"refusals" default:"true"`
	// What becomes of calls while lines can't be written as fast as they come, or not at all: block has them wait, and refuses
	// them after a second, so that nothing is done without a line; drop lets them go on without one, and counts that.
	WhenFull WhenFull `yaml:"when_full" default:"block"`
	// The most lines that wait to be written. Those of calls that run already come on top.
	Buffer int `yaml:"buffer" default:"8192" min:"64" max:"1000000"`
}

// AuditSubject is how the audit log names callers.
type AuditSubject string

// The values of [AuditSubject].
const (
	SubjectHash  AuditSubject = "hash"
	SubjectPlain AuditSubject = "plain"
	SubjectNone  AuditSubject = "none"
)

func (AuditSubject) values() []string { return []string{"hash", "plain", "none"} }

// AuditArguments is how the audit log tells of arguments.
type AuditArguments string

// The values of [AuditArguments].
const (
	ArgumentsDigest AuditArguments = "digest"
	ArgumentsNone   AuditArguments = "none"
)

func (AuditArguments) values() []string { return []string{"digest", "none"} }

// WhenFull is what becomes of calls that the audit log has no room for.
type WhenFull string

// The values of [WhenFull].
const (
	FullBlock WhenFull = "block"
	FullDrop  WhenFull = "drop"
)

func (WhenFull) values() []string { return []string{"block", "drop"} }

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
