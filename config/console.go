package config

import "slices"

// Console is the console: pages for operators on the admin listener, below /console.
type Console struct {
	// Serves the console.
	Enabled *bool `yaml:"enabled,omitempty" absent:"true if admin.listen is a loopback address" access:"none: while it is off it admits nobody, and whom it admits is compared"`
	// The URL by which browsers reach the console, without a path: https, or http for loopback. Its host is accepted in the
	// Host header.
	URL *URL `yaml:"url,omitempty" absent:"http:// and admin.listen" access:"joint: hosts" https:", or http for a loopback host: the cookie of the console would be sent in the clear"`
	// Tokens that sign in, besides admin.token, which has the role operate and the name admin.
	Tokens []ConsoleToken `yaml:"tokens,omitempty" absent:"none" access:"joint: console"`
	// Signs people in at an OpenID provider, in addition to tokens.
	OIDC *ConsoleOIDC `yaml:"oidc,omitempty" absent:"none: tokens sign in" access:"joint: console"`
	// Shows arguments and answers of calls to the role operate, without secrets and cut. They may contain personal data.
	ShowBodies bool `yaml:"show_bodies" default:"false" access:"joint: console"`
}

// ConsoleRole is what somebody may do in the console.
type ConsoleRole string

// The values of [ConsoleRole].
const (
	ConsoleView    ConsoleRole = "view"    // look at everything but callers, arguments and answers
	ConsoleOperate ConsoleRole = "operate" // in addition accept, reload and try
)

func (ConsoleRole) values() []string { return []string{"view", "operate"} }

// ConsoleToken is a token that signs in to the console.
type ConsoleToken struct {
	// The name of who signs in, as the audit log and the log have it.
	Name string `yaml:"name" required:"true" access:"joint: console"`
	// The token, at least 16 characters.
	Token Secret `yaml:"token" required:"true" access:"none: secrets and keys are rotated" is:"token" length:"16.."`
	// view shows everything but callers, arguments and answers; operate also accepts held changes, reloads and tries tools.
	Role ConsoleRole `yaml:"role" default:"view" access:"joint: console"`
}

// ConsoleOIDC is the OpenID provider at which people sign in to the console, with the authorization code flow and PKCE.
type ConsoleOIDC struct {
	// The issuer identifier, https, or http for loopback. Its metadata is at /.well-known/openid-configuration.
	Issuer URL `yaml:"issuer" required:"true" access:"joint: console" is:"issuer" https:", or http for a loopback host"`
	// The client id of the console. Its redirect URI is that of console.url with /console/signin/callback.
	ClientID string `yaml:"client_id" required:"true" access:"joint: console"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"a public client" access:"none: secrets and keys are rotated"`
	// Further scopes to request besides openid.
	Scopes []string `yaml:"scopes,omitempty" absent:"profile" access:"none: requested from the provider; roles_claim is compared"`
	// The claim of the ID token with the names that roles has: a string with spaces or a list of strings. A name that begins
	// with '/' is a JSON Pointer, such as /realm_access/roles. A claim about the person, such as email or sub, has one value,
	// spaces or not, and email counts only with email_verified.
	RolesClaim string `yaml:"roles_claim" default:"groups" access:"joint: console"`
	// The values of roles_claim that have each role. Users without any of them can't sign in.
	Roles ConsoleRoles `yaml:"roles" required:"true" access:"joint: console"`
	// PEM certificates that are trusted for this issuer instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" access:"joint: console" pem:"certificates"`
	// The proxy for the issuer.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy" access:"none: the provider is reached over TLS"`
}

func (o *ConsoleOIDC) validate(c cursor) {
	if len(o.Roles.View)+len(o.Roles.Operate) == 0 && c.ok("roles") {
		c.errorf("roles", "must name a value of %s in view or operate: nobody could sign in", o.RolesClaim)
	}
	for i, value := range o.Roles.View {
		if slices.Contains(o.Roles.Operate, value) {
			c.errorf(c.item("roles.view", i), "%q is in roles.operate too, which includes view", value)
		}
	}
}

// ConsoleRoles are the values of a claim that have a role.
type ConsoleRoles struct {
	// Values that have the role view.
	View []string `yaml:"view,omitempty" absent:"none" access:"joint: console"`
	// Values that have the role operate.
	Operate []string `yaml:"operate,omitempty" absent:"none" access:"joint: console"`
}
