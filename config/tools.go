package config

// Tools are the names, lists and confirmation of tools.
type Tools struct {
	// The tools in tools/list of /mcp: all, or search_tools, describe_tools, read_tool, call_tool and the pinned tools.
	// auto switches to search above list_budget or list_limit. Clients can override it with ?presentation=.
	Presentation Presentation `yaml:"presentation" default:"auto" access:"none: the form of lists"`
	// The size of the list, in o200k_base tokens, above which auto switches to search. It switches back below 80 %.
	ListBudget TokenCount `yaml:"list_budget" default:"20k" min:"1k" max:"10000k" access:"none: the form of lists"`
	// The number of tools above which auto switches to search; 0 means no limit. It switches back below 80 %. OpenAI and
	// Copilot take 128 tools in a request.
	ListLimit int `yaml:"list_limit" default:"100" min:"0" max:"100000" access:"none: the form of lists"`
	// Tools that are listed with search, too.
	Pinned Selectors `yaml:"pinned,omitempty" absent:"none" access:"none: the form of lists" empty:"leave it out, or select something"`
	// The names of tools: operation_id takes the operationId as it is; short takes its words without what generators add,
	// or else a verb and the resource of the path, and keeps names that were published before. init and a bare document have short.
	Names Names `yaml:"names" default:"operation_id" access:"none: names of tools"`
	// Whether tool names begin with the API's name: auto does so with more than one API.
	Prefix Prefix `yaml:"prefix" default:"auto" access:"none: names of tools"`
	// The maximum length of tool names. Longer ones end in a hash. Many clients allow 64 including their own prefix.
	MaxName int `yaml:"max_name" default:"64" min:"24" max:"128" access:"none: names of tools"`
	// The file of approved tools, written by drawbridge lock. New and changed tools are held back until they are
	// approved.
	Lock File `yaml:"lock,omitempty" absent:"all tools are served" access:"restricts"`
	// The calls that the user must confirm by default: none, or those of tools without a safe method.
	Confirm Confirm `yaml:"confirm" default:"none" access:"restricts: destructive"`
	// The handling of such a call if its client can't ask the user.
	Unconfirmed Unconfirmed `yaml:"unconfirmed" default:"refuse" access:"grants: allow"`
	// Scopes of callers that are never asked, such as services. Needs auth.issuers.
	UnconfirmedScopes []string `yaml:"unconfirmed_scopes,omitempty" absent:"every caller is asked" access:"joint: exempt callers" is:"scope" unique:"%q is listed twice" empty:"leave it out" issuers:"needs auth.issuers: without tokens nobody has a scope"`
	// Allows inputs of the deprecated kinds sample and roots (SEP-2577).
	DeprecatedInputs bool `yaml:"deprecated_inputs" default:"false" access:"none: the form of questions that rules ask"`
	// Arguments that clients add to calls and that are removed before validation, unless the tool declares them. At
	// most 64.
	DropArguments []string `yaml:"drop_arguments,omitempty" absent:"none" access:"joint: dropped arguments" count:"64: has %d names, and at most %d are allowed" is:"dropped-argument" unique:"%s is listed twice"`
	// Origins to which the gateway may send a webhook when a job ends, at the caller's request. https, or http for
	// loopback. Private addresses are allowed.
	CallbackURLs []Origin `yaml:"callback_urls,omitempty" absent:"no webhooks" access:"grants" empty:"leave it out" https:": what a job has come to is not for everybody on the way"`
	// The key that signs these webhooks (HMAC-SHA256), at least 16 bytes.
	CallbackSecret Secret `yaml:"callback_secret,omitempty" absent:"required with callback_urls" access:"none: secrets and keys are rotated"`
}

func (t *Tools) validate(c cursor) {
	const urls, secret = "callback_urls", "callback_secret"
	switch n := len(t.CallbackSecret.Reveal()); {
	case !c.ok(urls, secret):
	case len(t.CallbackURLs) > 0 && n == 0:
		c.errorf(secret, "is required with callback_urls")
	case len(t.CallbackURLs) == 0 && n > 0 && !c.given(urls):
		c.errorf(secret, "needs callback_urls")
	case n > 0 && n < 16:
		c.errorf(secret, "has %d bytes, fewer than 16", n)
	}
}
