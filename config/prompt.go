package config

import "slices"

// Prompt is a template of messages that a user picks and fills in, as prompts/list and prompts/get have it. It stands in the
// configuration, or in a file of its own, which may be one of a directory.
type Prompt struct {
	// The name by which clients ask for it: letters, digits, _, - and ., at most 128, unlike all others.
	Name string `yaml:"name,omitempty" absent:"required; in a file of its own, the name of the file"`
	// The title that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"none"`
	// What it is for, at most 4096 bytes.
	Description string `yaml:"description,omitempty" absent:"none"`
	// What its user fills in, at most 50.
	Arguments []PromptArgument `yaml:"arguments,omitempty" absent:"none"`
	// What the user is asked when the prompt is asked for without the arguments that the answers give, as inputs of a rule.
	Inputs []Input `yaml:"inputs,omitempty" absent:"nothing is asked"`
	// The messages that it becomes, at most 50.
	Messages []PromptMessage `yaml:"messages,omitempty" absent:"required; in a Markdown file, its text as a message of the user"`
	// A file with the prompt, .md, .yaml or .yml, or a directory of such files. Beside it only scopes and endpoints can stand,
	// which then win over those of the files.
	File File `yaml:"file,omitempty" absent:"the prompt stands here"`
	// The scopes that its caller needs, besides those of what it calls and reads. An empty list needs auth.allow_unscoped.
	Scopes []string `yaml:"scopes,omitempty" absent:"auth.default_scopes"`
	// The names of the endpoints that have it, besides /mcp, which has all prompts. They must have what it calls and reads.
	Endpoints []string `yaml:"endpoints,omitempty" absent:"/mcp alone"`

	origin *promptOrigin
}

// PromptArgument is a text that the user of a prompt fills in.
type PromptArgument struct {
	// The name, as it stands in places: a letter or _, then letters, digits, _, - and ., at most 64.
	Name string `yaml:"name" need:"true"`
	// The title that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"none"`
	// What to fill in, at most 1024 bytes.
	Description string `yaml:"description,omitempty" absent:"none"`
	// Whether the prompt can't be had without it. One that is left out is an empty text.
	Required bool `yaml:"required" default:"false"`
	// What clients offer while it is filled in, at most 1000. Other texts are taken too.
	Values []string `yaml:"values,omitempty" absent:"those that the document has for the argument of a tool that is nothing but this"`
	// A call that tells what clients offer while it is filled in. It excludes values.
	Complete *PromptCompletion `yaml:"complete,omitempty" absent:"none"`
}

// PromptCompletion is a call whose answer holds what may be filled in for an argument. It is made as the caller, has 2 seconds,
// and is made again for the same caller and arguments after 5 seconds at the earliest.
type PromptCompletion struct {
	// The name of a tool, as tools/list has it, of a method that is safe, such as GET.
	Tool string `yaml:"tool" need:"true"`
	// The arguments of the call, whose texts are templates: {{value}} stands for what was typed so far, other names for the other
	// arguments of the prompt. With {{value}} the service chooses what is offered, without it all that the answer has is searched.
	Arguments map[string]Value `yaml:"arguments,omitempty" absent:"none"`
	// Where the values stand in the answer: a JSON pointer (RFC 6901), in which * stands for each item of a list or member of an
	// object, such as /items/*/name.
	Values Pointer `yaml:"values" need:"true"`
}

// TypedPlace is the place in a [PromptCompletion] for what was typed so far.
const TypedPlace = "value"

// Typed reports whether the call is told what was typed.
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
	// Who says it.
	Role PromptRole `yaml:"role" default:"user"`
	// What is said, at most 65536 bytes.
	Text Template `yaml:"text,omitempty" absent:"resource or tool"`
	// The URI of a resource that is read when the prompt is asked for; what it holds is the message. What fills a place is escaped,
	// unless the place is all there is. Whoever may not read it can't have the prompt.
	Resource Template `yaml:"resource,omitempty" absent:"text or tool"`
	// The name of a tool, as tools/list has it, that is called when the prompt is asked for; its answer is the message. Whoever may
	// not call it can't have the prompt.
	Tool string `yaml:"tool,omitempty" absent:"text or resource"`
	// The arguments of the call, whose texts are templates. One that is nothing but a place for an argument that was left out is
	// left out too.
	Arguments map[string]Value `yaml:"arguments,omitempty" absent:"none"`
	// Lets the tool be one whose method is not safe (RFC 9110 section 9.2.1). Hosts ask for prompts to show them, and more than once,
	// so such a tool must do no more than tell, as a search by POST does.
	Unsafe bool `yaml:"unsafe" default:"false"`
}

// PromptRole is who says a message.
type PromptRole string

// The values of [PromptRole].
const (
	RoleUser      PromptRole = "user"
	RoleAssistant PromptRole = "assistant"
)

func (PromptRole) values() []string { return []string{"user", "assistant"} }

// promptOrigin is where a prompt stands.
type promptOrigin struct {
	file   string
	prefix string // of its key paths
	places map[string]position
}

// Wrong returns an error of the value at a key path below the prompt, such as messages[0].tool, with its place in its file:
// for what only those who use the prompt can find out.
func (p *Prompt) Wrong(key string, err error) error {
	o := p.origin
	if o == nil {
		return err
	}
	key = join(o.prefix, key)
	return wrong(o.file, nearestPlace(o.places, key), key, err)
}
