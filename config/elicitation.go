package config

import "slices"

// Input is something that a call asks the user, or the client, before anything is sent.
type Input struct {
	// The key of the question, by which the client answers it: letters, digits, _, - and ., at most 64, and not confirm.
	Key string `yaml:"key" need:"true"`
	// The kind of question: form has the user fill in a form, url sends the user to a web page, and, with
	// tools.deprecated_inputs, sample requests a completion from the client's model, and roots the directories of the
	// client.
	Kind InputKind `yaml:"kind" default:"form"`
	// The step in which the question is asked. All questions of a step are asked at once, those of the next when they are
	// answered.
	Step int `yaml:"step" default:"1" min:"1" max:"10"`
	// The message for the user, at most 1000 bytes.
	Message string `yaml:"message,omitempty" absent:"names the tool, its API and the arguments"`
	// The arguments that the form asks for, with the descriptions and types of their own schemas. It excludes schema and
	// bind.
	Arguments []string `yaml:"arguments,omitempty" absent:"schema defines the form"`
	// The form: a JSON Schema of an object, with the keywords that MCP allows in forms. It is sent unchanged, in this
	// order.
	Schema JSON `yaml:"schema,omitempty" absent:"made from arguments"`
	// The web page of a question of kind url. https, or http for a loopback host.
	URL Endpoint `yaml:"url,omitempty" absent:"none"`
	// The params of a question of kind sample, such as messages and maxTokens.
	Params JSON `yaml:"params,omitempty" absent:"none"`
	// Which arguments the answer supplies, and where in it their values are, as JSON Pointers (RFC 6901).
	Bind map[string]Pointer `yaml:"bind,omitempty" absent:"the argument that has the name of the field, for each field of the form"`
	// When the question is asked: missing if the caller has not given all arguments that the answer supplies, always on
	// every call. An argument that is always asked for is not an argument of the tool.
	When InputWhen `yaml:"when" default:"missing"`
	// Declares that fields whose names or formats look like secrets contain none. Without it they are rejected, because a
	// form must not ask for secrets.
	NoSecrets bool `yaml:"no_secrets" default:"false"`

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
