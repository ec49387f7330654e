package config

// Tools says how tools are named, listed and confirmed.
type Tools struct {
	// What tools/list of /mcp shows: all tools, or with search the tools search_tools, describe_tools, read_tool and
	// call_tool, by which a model finds and calls the others, and the pinned ones. auto shows all as long as they cost at
	// most list_budget tokens of a model's context. A client can choose for itself, with ?presentation= in its URL.
	Presentation Presentation `yaml:"presentation" default:"auto"`
	// The most tokens (o200k_base) that the whole list may cost before auto changes to search. It changes back below 80 %
	// of that.
	ListBudget TokenCount `yaml:"list_budget" default:"20k" min:"1k" max:"10000k"`
	// Tools that are listed with search, too.
	Pinned Selectors `yaml:"pinned,omitempty" absent:"none"`
	// Whether tool names begin with the name of their API: auto does so when more than one API is configured.
	Prefix Prefix `yaml:"prefix" default:"auto"`
	// The maximum characters of a tool name. Longer names are cut and end in a hash. Clients add their own prefix, and
	// many have a limit of 64.
	MaxName int `yaml:"max_name" default:"64" min:"24" max:"128"`
	// The file of approved tools, which drawbridge lock writes. With it, a tool that is new, or whose method, path, title,
	// description or schema has changed, is held back until it is approved: it is neither listed nor callable.
	Lock File `yaml:"lock,omitempty" absent:"all tools are served"`
	// Which calls need the user's confirmation if no rule decides it: none, or those of destructive tools, which are all
	// except those with safe methods.
	Confirm Confirm `yaml:"confirm" default:"none"`
	// What happens to such a call if its client can't ask the user: it is refused or allowed.
	Unconfirmed Unconfirmed `yaml:"unconfirmed" default:"refuse"`
	// The scopes with which a caller is never asked, such as a caller without a user. It needs auth.issuers.
	UnconfirmedScopes []string `yaml:"unconfirmed_scopes,omitempty" absent:"every caller is asked"`
	// Allows inputs of the kinds sample and roots, which the protocol has deprecated (SEP-2577), for clients that support
	// nothing else.
	DeprecatedInputs bool `yaml:"deprecated_inputs" default:"false"`
	// Arguments that clients add to calls, such as toolCallId and sessionId: they are removed from the arguments of
	// tools/call before validation, and are not sent to the service. An argument that the tool declares is kept. Exact
	// names, at most 64 of 128 bytes each.
	DropArguments []string `yaml:"drop_arguments,omitempty" absent:"none"`
	// The origins to which the gateway sends a webhook when a job has ended, if the call requested it with a URL in its
	// _meta under drawbridge/callbackUrl. https, or http for a loopback host. Private addresses are allowed.
	CallbackURLs []Origin `yaml:"callback_urls,omitempty" absent:"no webhooks"`
	// The key that signs these webhooks (HMAC-SHA256), at least 16 bytes.
	CallbackSecret Secret `yaml:"callback_secret,omitempty" absent:"required with callback_urls"`
}
