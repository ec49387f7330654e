package config

// Audit is the audit log: one line for each call, and some for requests that are refused, apart from the log of the program.
type Audit struct {
	// The file to which records are appended, with mode 0600. It is reopened on SIGHUP and after rotation. Keep it out
	// of the configuration's directory.
	File File `yaml:"file,omitempty" absent:"standard output" access:"joint: audit"`
	// Sends records as logs to telemetry.otlp_endpoint instead of a file.
	OTLP bool `yaml:"otlp" default:"false" access:"joint: audit"`
	// The HMAC-SHA256 key for hashes of subjects and arguments, at least 32 characters. Set it to compare hashes
	// between restarts and replicas.
	HashKey Secret `yaml:"hash_key,omitempty" absent:"random at each start" access:"none: secrets and keys are rotated" length:"32.."`
	// How the token's subject is written: hashed, plain, or not at all.
	Subject AuditSubject `yaml:"subject" default:"hash" access:"joint: audit"`
	// How a call's arguments are written: as a keyed hash, or not at all.
	Arguments AuditArguments `yaml:"arguments" default:"digest" access:"joint: audit"`
	// JSON Pointers of arguments that are also written unchanged, at most 16. sensitive_fields are redacted.
	Fields []Pointer `yaml:"fields,omitempty" absent:"none" access:"joint: audit" count:"16 fields" unique:"is listed twice"`
	// Also records rejected tokens, hosts, requests over a limit and connections, combined by the minute.
	Refusals bool `yaml:"refusals" default:"true" access:"joint: audit"`
	// The handling of calls when records can't be written: block rejects calls, at once after an error and after a second
	// if the output is slow; drop continues without a record.
	WhenFull WhenFull `yaml:"when_full" default:"block" access:"joint: audit"`
	// The maximum number of records that wait to be written.
	Buffer int `yaml:"buffer" default:"8192" min:"64" max:"1000000" access:"none: limits bound the cost of the audit log"`
}

// AuditSubject is the form of callers in the audit log.
type AuditSubject string

// The values of [AuditSubject].
const (
	SubjectHash  AuditSubject = "hash"
	SubjectPlain AuditSubject = "plain"
	SubjectNone  AuditSubject = "none"
)

func (AuditSubject) values() []string { return []string{"hash", "plain", "none"} }

// AuditArguments is the form of arguments in the audit log.
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
