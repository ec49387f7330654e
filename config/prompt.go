package config

import "slices"

// Prompt is a template of messages that a user picks and fills in, as prompts/list and prompts/get have it. It is part of the
// configuration, or of a file of its own, which may be one of a directory.
type Prompt struct {
	// The name: letters, digits, _, - and ., at most 128, unique.
	Name string `yaml:"name,omitempty" absent:"required; in a separate file, the name of the file" excludes:"file: it belongs into the file" access:"joint: entry"`
	// The title that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"none" access:"none: words for models and users" excludes:"file: it belongs into the file" length:"200"`
	// The purpose of the prompt, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"none" access:"none: words for models and users" excludes:"file: it belongs into the file" length:"4096"`
	// The arguments that the user fills in, at most 50.
	Arguments []PromptArgument `yaml:"arguments,omitempty" absent:"none" access:"none: words for users, and calls as the caller" excludes:"file: it belongs into the file" count:"50: has more than %[2]d arguments"`
	// Questions to the user for missing arguments, as in rules[].set.inputs.
	Inputs []Input `yaml:"inputs,omitempty" absent:"none" access:"none: questions to the user" excludes:"file: it belongs into the file" empty:"leave it out" count:"20 questions"`
	// The messages of the prompt, at most 50.
	Messages []PromptMessage `yaml:"messages,omitempty" absent:"required; in a Markdown file, its text as a user message" access:"none: words for users, and calls as the caller" excludes:"file: it belongs into the file" count:"50: has more than %[2]d messages"`
	// A .md, .yaml or .yml file with the prompt, or a directory of such files. Only scopes and endpoints are allowed
	// beside it.
	File File `yaml:"file,omitempty" absent:"the prompt is defined here" access:"none: where the prompt is read"`
	// Scopes that the caller needs, besides those of the tools and resources that the prompt uses. [] needs
	// auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes" access:"scopes" is:"scope" unique:"%q is listed twice" issuers:"warn"`
	// The endpoints that have the prompt, besides /mcp. They must have the tools and resources that it uses.
	Endpoints []string `yaml:"endpoints,omitempty" absent:"only /mcp" access:"grants" empty:"leave it out" unique:"%s is listed twice"`

	origin *promptOrigin
}

// argumentNames returns the names of the arguments.
func (p *Prompt) argumentNames() (names []string) {
	for _, a := range p.Arguments {
		names = append(names, a.Name)
	}
	return names
}

// PromptArgument is a text that the user of a prompt fills in.
type PromptArgument struct {
	// The name in placeholders: a letter or _, then letters, digits, _, - and ., at most 64.
	Name string `yaml:"name" required:"true"`
	// The title that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"none" length:"200"`
	// The description of the argument, at most 1024 bytes.
	Description string `yaml:"description,omitempty" absent:"none" length:"1024"`
	// Whether the prompt requires the argument. A missing optional argument is an empty text.
	Required bool `yaml:"required" default:"false"`
	// Suggestions for the user, at most 1000. Other values are accepted too.
	Values []string `yaml:"values,omitempty" absent:"from the tool argument that it fills" empty:"leave it out" count:"1000: has more than %[2]d values"`
	// A call that returns suggestions. Excludes values.
	Complete *PromptCompletion `yaml:"complete,omitempty" absent:"none" excludes:"values"`
}

// PromptCompletion is a call whose response has the suggestions for an argument. It is made as the caller, has 2 seconds,
// and is made again for the same caller and arguments after 5 seconds at the earliest.
type PromptCompletion struct {
	// The name of a tool with a safe method, such as GET.
	Tool string `yaml:"tool" required:"true"`
	// The arguments of the call, as templates. {{value}} is the text typed so far; other names are the prompt's
	// arguments. Without {{value}} the whole response is searched.
	Arguments map[string]Value `yaml:"arguments,omitempty" absent:"none"`
	// A JSON Pointer to the values in the response, in which * stands for every element or member, such as
	// /items/*/name.
	Values Pointer `yaml:"values" required:"true"`
}

// TypedPlace is the place in a [PromptCompletion] for what was typed so far.
const TypedPlace = "value"

// Typed reports whether the call gets the text typed so far.
func (c *PromptCompletion) Typed() bool {
	for _, value := range c.Arguments {
		if slices.Contains(value.Places(), TypedPlace) {
			return true
		}
	}
	return false
}

// PromptMessage is one message of a prompt. It has exactly one of text, resource and tool. Each is a template: {{name}} in it stands for
// the argument of that name, and {{{{ for {{ itself.
type PromptMessage struct {
	// The role of the message.
	Role PromptRole `yaml:"role" default:"user"`
	// The text of the message, at most 65536 bytes.
	Text Template `yaml:"text,omitempty" absent:"resource or tool" length:"65536"`
	// The URI of a resource whose contents become the message. Placeholder values are escaped, unless the placeholder
	// is the whole URI.
	Resource Template `yaml:"resource,omitempty" absent:"text or tool" length:"2048"`
	// The name of a tool whose result becomes the message.
	Tool string `yaml:"tool,omitempty" absent:"text or resource"`
	// The arguments of the call, as templates. An argument that is only a placeholder without a value is omitted.
	Arguments map[string]Value `yaml:"arguments,omitempty" absent:"none" needs:"tool"`
	// Allows a tool whose method is not safe, such as a search by POST. Hosts may get a prompt several times.
	Unsafe bool `yaml:"unsafe" default:"false"`
}

// places returns the places of each template of the message, by its key.
func (m *PromptMessage) places() map[string][]string {
	places := map[string][]string{"text": m.Text.Places(), "resource": m.Resource.Places()}
	for name, value := range m.Arguments {
		places[join("arguments", name)] = value.Places()
	}
	return places
}

// PromptRole is who says a message.
type PromptRole string

// The values of [PromptRole].
const (
	RoleUser      PromptRole = "user"
	RoleAssistant PromptRole = "assistant"
)

func (PromptRole) values() []string { return []string{"user", "assistant"} }

// promptOrigin is the file of a prompt and its place there.
type promptOrigin struct {
	file      string
	prefix    string // of its key paths
	positions map[string]position
}

// Wrong returns an error of the value at a key path below the prompt, such as messages[0].tool, with its place in its file:
// for what only those who use the prompt can find out.
func (p *Prompt) Wrong(key string, err error) error {
	o := p.origin
	if o == nil {
		return err
	}
	key = join(o.prefix, key)
	at := nearestPosition(o.positions, key)
	return wrong(Problem{File: o.file, Line: at.line, Column: at.column, Key: key}, err)
}
