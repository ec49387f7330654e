package config

import "reflect"

// Rule changes the tools that it matches.
type Rule struct {
	// Which operations the rule applies to.
	Match Selectors `yaml:"match" need:"true"`
	// The settings, at least one.
	Set Settings `yaml:"set" need:"true"`
}

// Settings is what a [Rule] changes of a tool. A zero field leaves things as they are.
type Settings struct {
	// The tool's name: letters, digits, _ and -, at most tools.max_name.
	Name string `yaml:"name,omitempty" absent:"from operationId, else from method and path"`
	// The tool's title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"from the operation's summary"`
	// The tool's description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"from the operation's summary and description"`
	// The scopes that a call requires. [] needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes"`
	// Changes of arguments, by their original names. Those of all rules are combined.
	Arguments map[string]*Argument `yaml:"arguments,omitempty" absent:"as the document has them"`
	// Arguments that clients also send in a header Mcp-Param-NAME, for routing by proxies. A call whose header and body
	// differ is rejected. {} overrides earlier rules.
	ParamHeaders map[string]string `yaml:"param_headers,omitempty" absent:"none"`
	// A CEL expression over claims, principal, tool and args that a call must satisfy, at most 4096 bytes. An
	// evaluation error rejects the call. Needs auth.issuers.
	Condition string `yaml:"condition,omitempty" absent:"none"`
	// Whether the user must confirm a call.
	Confirm *bool `yaml:"confirm,omitempty" absent:"tools.confirm"`
	// Questions to the user before the call. The tool does not require the arguments that they ask for. [] overrides
	// earlier rules.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing"`
	// The total time of a call, which also replaces limits.first_byte_timeout.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"the API's timeout"`
	// Whether a request may be sent again if its outcome is unknown.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"as RFC 9110 defines for the method"`
	// Hints for clients that differ from those of the method. Those of all rules are combined.
	Annotations *Annotations `yaml:"annotations,omitempty" absent:"as RFC 9110 defines for the method"`
	// Sends a random UUID in Idempotency-Key, or in the header named here, so that the request may be retried. false
	// overrides earlier rules.
	IdempotencyKey KeyHeader `yaml:"idempotency_key,omitempty" absent:"none"`
	// The rate limit for calls of the tool by clients. off overrides earlier rules.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any"`
	// Makes a GET operation a resource or a resource template. true means {}; false overrides earlier rules.
	Resource *Resource `yaml:"resource,omitempty" absent:"none"`
	// Where events of a streamed response have the progress. false overrides earlier rules.
	Progress *Progress `yaml:"progress,omitempty" absent:"the defaults of its keys"`
	// How the gateway follows a job that a call starts. true means {}; false disables jobs.
	Job *Job `yaml:"job,omitempty" absent:"automatic detection, if the response has status 202 and a status URL"`
	// Caches responses of GET and HEAD, per caller, as the service's headers allow (RFC 9111). true means {}; false
	// overrides earlier rules.
	Cache *Cache `yaml:"cache,omitempty" absent:"no caching"`
	// Reduces JSON responses by fields, elements or tokens. Errors stay whole. false overrides earlier rules.
	Result *Result `yaml:"result,omitempty" absent:"the whole answer"`
	// When a response with status 2xx reports a failure, so that the call is an error. false overrides earlier rules.
	Error *AnswerError `yaml:"error,omitempty" absent:"the status decides"`
	// Whether invisible characters are removed from the responses.
	Clean *bool `yaml:"clean,omitempty" absent:"the API's clean"`
	// Fields that are redacted from all responses. A list means fields. Those of all rules are combined.
	SensitiveFields *SensitiveFields `yaml:"sensitive_fields,omitempty" absent:"no redaction"`
}

func (s *Settings) empty() bool { return reflect.ValueOf(*s).IsZero() }

// Apply puts the settings that later has in the place of those that were there, and joins what both hide, the arguments
// that both change and their annotations.
func (s *Settings) Apply(later Settings) {
	hidden, arguments, annotations := later.SensitiveFields.with(s.SensitiveFields), mergeArguments(s.Arguments, later.Arguments), later.Annotations.over(s.Annotations)
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(later)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() { // an empty list is something else than none
			to.Field(i).Set(from.Field(i))
		}
	}
	s.SensitiveFields, s.Arguments, s.Annotations = hidden, arguments, annotations
	if a := later.Annotations; a != nil && a.Idempotent != nil {
		s.Idempotent = a.Idempotent // two keys of one setting
	}
}
