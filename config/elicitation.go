package config

import "slices"

// Input is something that a call asks the user, or the client, before anything is sent.
type Input struct {
	// The key of the question in the client's answer: letters, digits, _, - and ., at most 64, not confirm.
	Key string `yaml:"key" required:"true" access:"none: the form of questions that rules ask"`
	// form shows a form, url a web page. sample asks the client's model and roots lists the client's directories; both
	// need tools.deprecated_inputs.
	Kind InputKind `yaml:"kind" default:"form" access:"none: the form of questions that rules ask"`
	// The step in which the question is asked. Questions of one step are asked together.
	Step int `yaml:"step" default:"1" min:"1" max:"10" access:"none: the order of questions"`
	// The message for the user, at most 1000 bytes.
	Message string `yaml:"message,omitempty" absent:"names the tool, its API and the arguments" access:"none: words for models and users" length:"1000"`
	// The arguments that the form asks for. Excludes schema and bind.
	Arguments []string `yaml:"arguments,omitempty" absent:"schema defines the form" access:"joint: operation" unique:"%s is listed twice"`
	// The form as a JSON Schema of an object, with the keywords that MCP allows. It is sent unchanged.
	Schema JSON `yaml:"schema,omitempty" absent:"made from arguments" access:"none: the form of questions that rules ask" length:"16384"`
	// The web page of a url question: https, or http for loopback.
	URL Endpoint `yaml:"url,omitempty" absent:"none" access:"none: a page that the operator names; the gateway sends nothing to it"`
	// The params of a question of kind sample, such as messages and maxTokens.
	Params JSON `yaml:"params,omitempty" absent:"none" access:"none: the form of questions that rules ask" length:"16384"`
	// JSON Pointers into the answer, by the argument that gets the value.
	Bind map[string]Pointer `yaml:"bind,omitempty" absent:"each field supplies the argument of its name" access:"joint: operation" empty:"leave it out"`
	// missing asks if the call lacks an argument that the answer supplies. always asks on every call, and removes the
	// arguments from the tool.
	When InputWhen `yaml:"when" default:"missing" access:"joint: operation"`
	// Declares that fields that look like secrets contain none. Otherwise they are rejected.
	NoSecrets bool `yaml:"no_secrets" default:"false" access:"none: a check of the file"`

	foreign bool
}

// Foreign tells that a document has it, whose words are not the operator's.
func (i *Input) Foreign() bool { return i.foreign }

// InputKind is what an [Input] asks.
type InputKind string

// The values of [InputKind].
const (
	InputForm   InputKind = "form"
	InputURL    InputKind = "url"
	InputSample InputKind = "sample"
	InputRoots  InputKind = "roots"
)

func (InputKind) values() []string { return []string{"form", "url", "sample", "roots"} }

// InputWhen is when an [Input] is asked.
type InputWhen string

// The values of [InputWhen].
const (
	InputMissing InputWhen = "missing"
	InputAlways  InputWhen = "always"
)

func (InputWhen) values() []string { return []string{"missing", "always"} }

// asksDeprecated tells that an input is of a kind that the protocol will not have for ever (SEP-2577).
func (i *Input) asksDeprecated() bool {
	return slices.Contains([]InputKind{InputSample, InputRoots}, i.Kind)
}
