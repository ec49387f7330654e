package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// Access returns the access requirements of a tool and the way its calls reach the service, each with the setting that
// decides it.
func (g *Gateway) Access(p *plan.Plan) *admin.ToolAccess {
	if gen := g.current.Load(); gen != nil {
		return gen.access(p)
	}
	return nil
}

// DefinitionsWithAccess returns [Gateway.Definitions] with the result of [Gateway.Access] in the _meta of each tool. It
// is for the operator; no client receives it.
func (g *Gateway) DefinitionsWithAccess() (json.RawMessage, error) {
	var tools []json.RawMessage
	if err := json.Unmarshal(g.Definitions(), &tools); err != nil {
		return nil, err
	}
	for i, tool := range tools {
		var of struct{ Name string }
		if err := json.Unmarshal(tool, &of); err != nil {
			return nil, err
		}
		meta, err := json.Marshal(map[string]any{"drawbridge/access": g.Access(g.Plan(of.Name))})
		if err != nil {
			return nil, err
		}
		tools[i] = slices.Concat(tool[:len(tool)-1], []byte(`,"_meta":`), meta, []byte("}"))
	}
	return json.Marshal(tools)
}

// access returns the access requirements of a tool of the generation.
func (gen *generation) access(p *plan.Plan) *admin.ToolAccess {
	c, s := gen.config, p.Source
	from := func(has func(*config.Settings) bool, otherwise string) string {
		return gen.setBy(p.Operation, s, has, otherwise)
	}
	a := &admin.ToolAccess{Condition: "none", Confirm: p.Consent.Needed, Credential: "none"}
	switch a.Scopes, a.Token = [][]string{}, gen.Main.Guard != nil; {
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
		a.Condition = gen.settingsOf(p.Operation, s).Condition
	}
	a.ConfirmFrom = from(func(set *config.Settings) bool { return set.Confirm != nil }, c.Origin("tools.confirm"))
	entry := gen.entries[s]
	switch {
	case s.Config.BaseURL != nil:
		a.BaseURL, a.BaseURLFrom = redact.Location(p.Base.String()), c.Origin(entry+".base_url")
	case p.Base != nil:
		a.BaseURL, a.BaseURLFrom = redact.Location(p.Base.String()), fromDocument
	}
	a.Credential, a.CredentialFrom = gen.credentialOf(p)
	return a
}

// fromDocument is the origin of settings from the OpenAPI document.
const fromDocument = "the document"

// credentialOf returns the kinds of credentials that the calls of a tool carry, and the settings that configure them.
func (gen *generation) credentialOf(p *plan.Plan) (kinds, from string) {
	c, s := gen.config, p.Source
	entry := gen.entries[s]
	var all, keys []string
	add := func(kind, key string) { all, keys = append(all, kind), append(keys, c.Origin(entry+"."+key)) }
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
func (gen *generation) settingsOf(op *openapi.Operation, s *source.Source) config.Settings {
	return gen.config.Settings(source.Subject(s.Name, op), s.Document.Extensions.Settings[op])
}

// setBy returns the origin of a setting of an operation: the last matching rule that has it, else the document if an
// extension has it, else otherwise.
func (gen *generation) setBy(op *openapi.Operation, s *source.Source, has func(*config.Settings) bool, otherwise string) string {
	if key := gen.config.SetBy(source.Subject(s.Name, op), has); key != "" {
		return gen.config.Origin(key)
	}
	if own := s.Document.Extensions.Settings[op]; has(&own) {
		return fromDocument
	}
	return otherwise
}

// faults lists the reasons why an API can't be used although its document could be read.
func (gen *generation) faults(f *fates, entry string) (all []string) {
	tools, uncallable, why := 0, 0, ""
	for op := range f.tools {
		tools++
		if op.Base == nil && f.config.BaseURL == nil {
			if uncallable++; why == "" || op.BaseProblem < why {
				why = op.BaseProblem
			}
		}
	}
	switch {
	case f.counts.Total == 0:
		all = append(all, "the document has no operation")
	case tools == 0 && f.counts.HeldBack == 0 && f.counts.Excluded > 0:
		key := entry + ".tools.exclude"
		if len(f.config.Tools.Include) > 0 {
			key = entry + ".tools.include"
		}
		all = append(all, fmt.Sprintf("%s: no operation becomes a tool", gen.config.Origin(key)))
	case tools > 0 && uncallable == tools:
		all = append(all, f.shown("no call can be made: "+why))
	}
	return all
}
