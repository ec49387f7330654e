package report

import (
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// AccessReporter reports how tools can be reached under one configuration.
type AccessReporter struct {
	Config   *config.Config
	Entries  map[*source.Source]string // configuration entry of each API, such as apis[0]
	HasGuard bool                      // a token is required
}

// Access returns the access requirements of a tool.
func (r *AccessReporter) Access(p *plan.Plan) *admin.ToolAccess {
	c, s := r.Config, p.Source
	from := func(has func(*config.Settings) bool, otherwise string) string {
		return r.setBy(p.Operation, s, has, otherwise)
	}
	a := &admin.ToolAccess{Condition: "none", Confirm: p.Consent.Needed, Credential: "none"}
	switch a.Scopes, a.Token = [][]string{}, r.HasGuard; {
	case !a.Token && c.Auth != nil:
		a.ScopesFrom = c.Origin("auth.anonymous")
	case !a.Token:
		a.ScopesFrom = c.Origin("auth")
	default:
		fallback := c.Origin("auth.default_scopes")
		for _, set := range p.Scopes {
			if len(set) == 0 {
				set = c.Auth.DefaultScopes
			}
			a.Scopes = append(a.Scopes, append([]string{}, set...))
		}
		if s.Config.ScopesFromDocument && !slices.ContainsFunc(p.Scopes, func(set []string) bool { return len(set) == 0 }) {
			fallback = fromDocument
		}
		a.ScopesFrom = from(func(set *config.Settings) bool { return set.Scopes != nil }, fallback)
	}
	if has := func(set *config.Settings) bool { return set.Condition != "" }; p.Condition != nil {
		a.ConditionFrom = from(has, "")
		a.Condition = r.settingsOf(p.Operation, s).Condition
	}
	a.ConfirmFrom = from(func(set *config.Settings) bool { return set.Confirm != nil }, c.Origin("tools.confirm"))
	a.Annotations = annotationsText(p.Tool.Annotations)
	a.AnnotationsFrom = from(func(set *config.Settings) bool { return set.Annotations != nil || set.Idempotent != nil }, "")
	entry := r.Entries[s]
	if p.Servers != nil {
		a.BaseURL, a.BaseURLFrom = serversText(p), serversFrom(c, entry, &s.Config)
	} else if p.Base != nil {
		a.BaseURL, a.BaseURLFrom = redact.Location(p.Base.String()), fromDocument
		if base := s.Config.BaseURL; base != nil && p.Base.String() == base.URL().String() {
			a.BaseURLFrom = c.Origin(entry + ".base_url")
		} else if base != nil && s.HasOrigin(p.Base) {
			a.BaseURLFrom += ", on the origin of " + c.Origin(entry+".base_url")
		}
	}
	a.Credential, a.CredentialFrom = r.credentialOf(p)
	if p.Failure != nil {
		a.Failure = r.settingsOf(p.Operation, s).Error.When
		a.FailureFrom = from(func(set *config.Settings) bool { return set.Error != nil }, "")
	}
	return a
}

// annotationsText returns the words for annotations.
func annotationsText(a catalog.Annotations) string {
	words := []string{"not destructive", "not idempotent"}
	switch {
	case a.ReadOnly:
		words[0] = "read-only"
	case a.Destructive:
		words[0] = "destructive"
	}
	if a.Idempotent {
		words[1] = "idempotent"
	}
	if !a.OpenWorld {
		words = append(words, "closed world")
	}
	return strings.Join(words, ", ")
}

// serversText lists the base URLs of a tool whose servers claims select among, with the claims and their values.
func serversText(p *plan.Plan) string {
	var texts []string
	for _, view := range p.Servers.All() {
		base := "none"
		if u := view.BaseURL(p.Operation); u != nil {
			base = redact.Location(u.String())
		}
		texts = append(texts, p.Servers.Selection(view)+": "+base)
	}
	return text.List(texts, maxServers)
}

// maxServers is the most servers of a tool that are listed.
const maxServers = 20

// serversFrom returns the settings by which claims select servers.
func serversFrom(c *config.Config, entry string, api *config.API) string {
	var keys []string
	for _, selector := range api.ServerSelectors() {
		key := c.Origin(entry + "." + selector.Key)
		if selector.Default != "" {
			key += ", without the claim " + selector.Default
		} else {
			key += ", no calls without the claim"
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, "; ")
}

// fromDocument is the origin of settings from the OpenAPI document.
const fromDocument = "the document"

// credentialOf returns the kinds of credentials that the calls of a tool carry, and the settings that configure them.
func (r *AccessReporter) credentialOf(p *plan.Plan) (kinds, from string) {
	c, s := r.Config, p.Source
	entry := r.Entries[s]
	var all, keys []string
	add := func(kind, key string) { all, keys = append(all, kind), append(keys, c.Origin(entry+"."+key)) }
	if p.Base != nil && p.Servers == nil && s.GoesElsewhere(p.Base) {
		if key, own := s.ServerCredential(p.Base); own != nil {
			return string(own.Type), c.Origin(entry + "." + key)
		}
		return "none", ""
	}
	switch {
	case p.Credential != nil:
		for _, scheme := range p.Credential.Schemes() {
			if own := s.Config.Credentials[scheme]; own != nil {
				add(string(own.Type), "credentials."+scheme)
			}
		}
	case s.Config.Credential != nil:
		add(string(s.Config.Credential.Type), "credential")
	}
	if s.Config.ClientCertificate != nil {
		add("client certificate", "client_certificate")
	}
	if s.Config.Identity != nil {
		add("identity of the caller", "identity")
	}
	if len(s.Config.PassHeaders) > 0 {
		add("headers of the caller", "pass_headers")
	}
	if all == nil {
		return "none", ""
	}
	return strings.Join(all, ", "), strings.Join(keys, ", ")
}

// settingsOf returns the settings of an operation from rules and from the document.
func (r *AccessReporter) settingsOf(op *openapi.Operation, s *source.Source) config.Settings {
	return r.Config.Settings(s.Subject(op), s.Document.Extensions.Settings[op])
}

// setBy returns the origin of a setting of an operation: the last matching rule that has it, else the document if an
// extension has it, else otherwise.
func (r *AccessReporter) setBy(op *openapi.Operation, s *source.Source, has func(*config.Settings) bool, otherwise string) string {
	if key := r.Config.SetBy(s.Subject(op), has); key != "" {
		return r.Config.Origin(key)
	}
	if own := s.Document.Extensions.Settings[op]; has(&own) {
		return fromDocument
	}
	return otherwise
}
