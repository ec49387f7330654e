package config

import "reflect"

// Rule changes the tools that it matches.
type Rule struct {
	// The operations that the rule applies to.
	Match Selectors `yaml:"match" required:"true" empty:"select something" access:"joint: rules"`
	// The settings, at least one.
	Set Settings `yaml:"set" required:"true" empty:"the rule changes nothing" access:"joint: rules"`
}

// Settings is what a [Rule] changes of a tool. A zero field leaves things as they are.
type Settings struct {
	// The tool's name: letters, digits, _ and -, at most tools.max_name.
	Name string `yaml:"name,omitempty" absent:"from operationId, else from method and path" access:"none: names of tools"`
	// The tool's title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"from the operation's summary" access:"none: words for models and users" length:"200"`
	// The tool's description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"from the operation's summary and description" access:"none: words for models and users" length:"4096"`
	// The scopes that a call requires. [] needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes" access:"joint: operation" is:"scope" unique:"%q is listed twice" issuers:"warn"`
	// Changes of arguments, by their original names. Those of all rules are combined.
	Arguments map[string]*Argument `yaml:"arguments,omitempty" absent:"as the document has them" access:"joint: operation" empty:"name an argument"`
	// Arguments that clients also send in a header Mcp-Param-NAME, for routing by proxies. A call whose header and body
	// differ is rejected. {} overrides earlier rules.
	ParamHeaders map[string]string `yaml:"param_headers,omitempty" absent:"none" access:"none: callers repeat what they send anyway"`
	// A CEL expression over claims, principal, tool and args that a call must satisfy, at most 4096 bytes. An
	// evaluation error rejects the call. Needs auth.issuers.
	Condition string `yaml:"condition,omitempty" absent:"none" access:"joint: operation" length:"4096" issuers:"needs auth.issuers: it is about callers, and nobody is asked who they are"`
	// Whether members of a JSON body must have the declared types. lenient also sends members of other types, and says so
	// in the result; unknown members, parameters, and arguments of conditions and rules are checked as by strict.
	Validation Validation `yaml:"validation,omitempty" absent:"strict"`
	// Whether the user must confirm a call.
	Confirm *bool `yaml:"confirm,omitempty" absent:"tools.confirm" access:"joint: operation"`
	// Questions to the user before the call. The tool does not require the arguments that they ask for. [] overrides
	// earlier rules.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing" access:"joint: operation" count:"20 questions"`
	// The total time of a call, which also replaces limits.first_byte_timeout.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"the API's timeout" access:"none: limits bound the cost of a call"`
	// Whether a request may be sent again if its outcome is unknown.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"as RFC 9110 defines for the method" access:"none: the same request may be sent again"`
	// Hints for clients that differ from those of the method. Those of all rules are combined.
	Annotations *Annotations `yaml:"annotations,omitempty" absent:"as RFC 9110 defines for the method" access:"joint: operation" empty:"give read_only, destructive, idempotent or open_world"`
	// Sends a random UUID in Idempotency-Key, or in the header named here, so that the request may be retried. false
	// overrides earlier rules.
	IdempotencyKey KeyHeader `yaml:"idempotency_key,omitempty" absent:"none" access:"none: the same request may be sent again"`
	// The rate limit for calls of the tool by clients. off overrides earlier rules.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any" access:"joint: operation"`
	// Makes a GET operation a resource or a resource template. true means {}; false overrides earlier rules.
	Resource *Resource `yaml:"resource,omitempty" absent:"none" access:"none: a resource needs the same access as the call of its operation"`
	// Where events of a streamed response have the progress. false overrides earlier rules.
	Progress *Progress `yaml:"progress,omitempty" absent:"the defaults of its keys" access:"none: callers get the same result in the end" empty:"leave it out"`
	// How the gateway follows a job that a call starts. true means {}; false disables jobs.
	Job *Job `yaml:"job,omitempty" absent:"automatic detection, if the response has status 202 and a status URL" access:"joint: operation"`
	// Caches responses of GET and HEAD, per caller, as the service's headers allow (RFC 9111). true means {}; false
	// overrides earlier rules.
	Cache *Cache `yaml:"cache,omitempty" absent:"no caching" access:"joint: operation"`
	// Reduces JSON responses by fields, elements or tokens. Errors stay whole, and so do the answers that resources, links and workflows
	// get: this is no access control, sensitive_fields is. false overrides earlier rules.
	Result *Result `yaml:"result,omitempty" absent:"the whole answer" access:"none: a part of a response that the caller gets anyway; sensitive_fields hides" empty:"say what is passed on, or leave it out"`
	// When a response with status 2xx reports a failure, so that the call is an error. false overrides earlier rules.
	Error *AnswerError `yaml:"error,omitempty" absent:"the status decides" access:"none: a response that the caller gets anyway, as an error; sensitive_fields hides" empty:"say in when how a response reports a failure, such as {when: .success == false}"`
	// Whether invisible characters are removed from the responses.
	Clean *bool `yaml:"clean,omitempty" absent:"the API's clean" access:"none: the form of responses"`
	// Fields that are redacted from all responses. A list means fields. Those of all rules are combined.
	SensitiveFields *SensitiveFields `yaml:"sensitive_fields,omitempty" absent:"no redaction" access:"joint: operation"`
}

func (s *Settings) empty() bool { return reflect.ValueOf(*s).IsZero() }

// Apply replaces the settings that later has, and joins the fields that both hide, the arguments
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
