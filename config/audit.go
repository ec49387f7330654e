package config

// Audit is the audit log: one line for each call, and some for requests that are refused, apart from the log of the program.
type Audit struct {
	// The file to which records are appended. It is created with mode 0600, and reopened when it was renamed or removed,
	// and on SIGHUP. The gateway never reads it. It should not be in the directory of the configuration, where the gateway
	// watches each change of a file.
	File File `yaml:"file,omitempty" absent:"standard output"`
	// The key for the hashes of subjects and arguments (HMAC-SHA256), at least 32 characters. Without it hashes can't be
	// compared between two starts, or between two replicas.
	HashKey Secret `yaml:"hash_key,omitempty" absent:"random at each start"`
	// How the subject of a token is written: hash, plain for the unchanged value, or none.
	Subject AuditSubject `yaml:"subject" default:"hash"`
	// How the arguments of a call are written: digest for a keyed hash of all of them, or none.
	Arguments AuditArguments `yaml:"arguments" default:"digest"`
	// The arguments that are additionally written unchanged, as JSON Pointers; at most 16. Fields that sensitive_fields
	// redacts from responses are redacted here too.
	Fields []Pointer `yaml:"fields,omitempty" absent:"none"`
	// Records requests that are rejected before their content is known, for their token, a rate limit, a host or overload,
	// and excess connections. The first of a kind has its own record, and the others of the same minute share one.
	Refusals bool `yaml:"refusals" default:"true"`
	// What happens to calls while records can't be written as fast as they come, or not at all: block makes them wait, and
	// rejects them after a second, so that nothing is done without a record; drop lets them continue without one, and
	// counts that.
	WhenFull WhenFull `yaml:"when_full" default:"block"`
	// The maximum number of records that wait to be written. Those of calls that already run are not included.
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
