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
	// The tool's name, in place of the generated one: letters, digits, _ and -, at most tools.max_name.
	Name string `yaml:"name,omitempty" absent:"from operationId, else from method and path"`
	// The tool's title, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"from the operation's summary"`
	// The tool's description, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"from the operation's summary and description"`
	// The scopes that a call requires, in place of auth.default_scopes. An empty list needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes"`
	// Changes of arguments, by the name that the argument has without them: values that are fixed, defaults, names,
	// descriptions and examples. Those of all rules are combined key by key.
	Arguments map[string]*Argument `yaml:"arguments,omitempty" absent:"as the document has them"`
	// Arguments that clients of 2026-07-28 also send in the header Mcp-Param-NAME, so that proxies can route calls by
	// them: the name of the header for each argument. A call whose header differs from its body is rejected. Only strings,
	// integers and booleans can be sent, and secrets should not be: proxies log headers. {} overrides earlier rules.
	ParamHeaders map[string]string `yaml:"param_headers,omitempty" absent:"none"`
	// A condition that a call must meet besides its scopes: an expression of the Common Expression Language over claims,
	// principal, tool and args, at most 4096 bytes. If it can't be evaluated the call is rejected. It needs auth.issuers.
	Condition string `yaml:"condition,omitempty" absent:"none"`
	// Whether a call needs the user's confirmation, which is requested when the arguments are valid.
	Confirm *bool `yaml:"confirm,omitempty" absent:"tools.confirm"`
	// Questions to the user, or the client, before a call is made, in the order of the steps. The tool then does not
	// require the arguments that they ask for. [] overrides earlier rules and the document.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing"`
	// The total time of a call, which then also limits the wait for the response header in place of
	// limits.first_byte_timeout.
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" max:"1h" absent:"the API's timeout"`
	// Whether a request may be sent again if the outcome of the first is unknown. A request that the service has certainly
	// not received is sent again in any case.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"as RFC 9110 defines for the method"`
	// Sends an idempotency key with each call, by which the service recognizes a repeated request, so that it may be sent
	// again: a random UUID in the header Idempotency-Key, or in the header named here. false overrides earlier rules.
	IdempotencyKey KeyHeader `yaml:"idempotency_key,omitempty" absent:"none"`
	// The rate limit for calls of the tool by clients. off overrides earlier rules.
	Rate *CallRate `yaml:"rate,omitempty" absent:"any"`
	// Makes a GET operation a resource that clients can read, or a resource template if its URI has variables. true means
	// {}; false means none and overrides earlier rules.
	Resource *Resource `yaml:"resource,omitempty" absent:"none"`
	// Where the events of a streamed response have the progress of the call, for clients that request it. false overrides
	// earlier rules and the document.
	Progress *Progress `yaml:"progress,omitempty" absent:"the defaults of its keys"`
	// How the gateway follows a job that the call begins: a response with status 202, or any 2xx response in which the
	// job's URL is found. true means {}. false overrides earlier rules and the document, and no response begins a job
	// then.
	Job *Job `yaml:"job,omitempty" absent:"automatic detection, if the response has status 202 and a status URL"`
	// Caches responses of GET and HEAD in memory, for each caller separately, as far as the service's headers allow (RFC
	// 9111). true means {}; false means none and overrides earlier rules.
	Cache *Cache `yaml:"cache,omitempty" absent:"no caching"`
	// How much of a JSON answer a call passes on: fields, elements and tokens. Errors are never cut. false overrides earlier
	// rules.
	Result *Result `yaml:"result,omitempty" absent:"the whole answer"`
	// Whether invisible characters are removed from the responses.
	Clean *bool `yaml:"clean,omitempty" absent:"the API's clean"`
	// Fields that are redacted from every response of the operation before any other processing. A list means fields. The
	// fields of all rules and documents are combined, and none is removed by another.
	SensitiveFields *SensitiveFields `yaml:"sensitive_fields,omitempty" absent:"no redaction"`
}

func (s *Settings) empty() bool { return reflect.ValueOf(*s).IsZero() }

// Apply puts the settings that later has in the place of those that were there, and joins what both hide and the arguments
// that both change.
func (s *Settings) Apply(later Settings) {
	hidden, arguments := later.SensitiveFields.with(s.SensitiveFields), mergeArguments(s.Arguments, later.Arguments)
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(later)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() { // an empty list is something else than none
			to.Field(i).Set(from.Field(i))
		}
	}
	s.SensitiveFields, s.Arguments = hidden, arguments
}
