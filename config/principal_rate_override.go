package config

import "go.yaml.in/yaml/v4"

// PrincipalRate is the rate limit of certain principals, instead of limits.principal_rate.
type PrincipalRate struct {
	// The principals to which the rate applies.
	Match PrincipalMatch `yaml:"match" required:"true" access:"joint: principal rates"`
	// The average rate, such as 100/s, 600/m or 1000/h; off for unlimited.
	Rate OwnFrequency `yaml:"rate" required:"true" access:"joint: principal rates"`
	// How many requests are allowed at once after a pause.
	Burst int `yaml:"burst,omitempty" min:"1" max:"1000000" absent:"what the rate allows in two seconds" access:"joint: principal rates"`
	// Whether the rate applies to each principal, or to all matching principals together.
	Per Per `yaml:"per" default:"principal" access:"joint: principal rates"`
}

func (r *PrincipalRate) validate(c cursor) {
	for _, name := range []string{"burst", "per"} {
		if !r.On() && c.given(name) && c.ok(name) {
			c.errorf(name, "says nothing where the rate is off; leave it out")
		}
	}
}

// On reports whether there is a rate: it may be written as off.
func (r *PrincipalRate) On() bool { return !r.Rate.off }

// AtOnce returns the burst; 0 if there is no rate.
func (r *PrincipalRate) AtOnce() int { return r.Rate.burst(r.Burst) }

// PrincipalMatch picks principals by what their tokens say. All keys that are given must match, and a key matches if one of its
// values is that of the token, to the letter: there are no patterns.
type PrincipalMatch struct {
	// The issuer of the token, one of auth.issuers.
	Issuer Values `yaml:"issuer,omitempty" absent:"any" access:"joint: principal rates" empty:"leave it out, or give a value" unique:"%s is listed twice"`
	// The client of the token.
	ClientID Values `yaml:"client_id,omitempty" absent:"any" access:"joint: principal rates" empty:"leave it out, or give a value" unique:"%s is listed twice"`
	// The token's sub. It is unique only within one issuer.
	Subject Values `yaml:"subject,omitempty" absent:"any" access:"joint: principal rates" empty:"leave it out, or give a value" unique:"%s is listed twice"`
	// Allowed values by claim name or JSON Pointer. A list claim matches if one element does.
	Claims map[string]Values `yaml:"claims,omitempty" absent:"any" access:"joint: principal rates" unique:"%s is listed twice"`
}

// Values is a list of values of which one must be there. In a file, a single one may stand for a list of one.
type Values []string

func (Values) single() (kind yaml.Kind, noun string) { return yaml.ScalarNode, "string" }
