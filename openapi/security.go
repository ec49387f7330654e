package openapi

import (
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"drawbridge/openapi/tree"
)

// A Requirement is one alternative of an operation's security: all of its schemes together (OAS security requirement
// object). An empty one means that the operation may be called without any.
type Requirement []SchemeUse

// SchemeUse names a security scheme and its required scopes.
type SchemeUse struct {
	Scheme string   // the name in components.securitySchemes (2.0: securityDefinitions)
	Scopes []string // of oauth2 and openIdConnect schemes
}

// A Scheme is a security scheme that a document declares. It determines the kind of credential to configure; it is only
// advice.
type Scheme struct {
	Name string // in the document
	Type string // "apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"; 2.0's "basic" is "http"
	HTTP string // of "http": "basic", "bearer" …, lower case
	In   string // of "apiKey": "query", "header" or "cookie"
	Key  string // of "apiKey": the parameter's name
}

// security holds the requirements that all operations inherit.
type security struct {
	schemes  []Scheme
	names    map[string]struct{} // of these
	root     *tree.Node          // the document's security member; nil if none is required
	declared *tree.Node          // the node that declares schemes; the document if there is none
}

func (s *security) init(set *tree.Set, ps *problems) {
	root := set.Root()
	s.root = root.Get("security")
	declared := root.Get("components").Get("securitySchemes")
	if declared == nil {
		declared = root.Get("securityDefinitions")
	}
	if s.declared = declared; declared == nil {
		s.declared = root
	}
	s.names = make(map[string]struct{}, declared.Len())
	for name, member := range declared.Members() {
		node, err := set.Follow(member)
		if err != nil {
			ps.at(member, codeSecurityDangling, "security scheme %q is missing: %s", name, cause(err))
			continue
		}
		text := func(key string) string { return strings.Clone(node.Get(key).Text()) }
		sc := Scheme{Name: strings.Clone(name), Type: text("type")}
		switch sc.Type {
		case "apiKey":
			sc.In, sc.Key = text("in"), text("name")
		case "basic":
			sc.Type, sc.HTTP = "http", "basic"
		case "http":
			sc.HTTP = strings.ToLower(text("scheme"))
		}
		s.schemes = append(s.schemes, sc)
		s.names[sc.Name] = struct{}{}
	}
}

// of returns the alternatives of an operation. The typed model has no order, which among alternatives is the author's
// preference; so the order comes from the raw node.
func (s *security) of(m *model, ps *problems) []Requirement {
	node := m.node.Get("security")
	var typed openapi3.SecurityRequirements
	switch {
	case m.typed.Security != nil:
		typed = *m.typed.Security
	default:
		return nil
	}
	if node.Kind() != tree.Array {
		node = s.root
	}
	var all []Requirement
	for i, requirement := range typed {
		r := Requirement{}
		for name := range node.At(i).Members() {
			scopes, ok := requirement[name]
			if !ok {
				continue
			}
			name = strings.TrimPrefix(name, "#/components/securitySchemes/") // 3.2 also allows the URI of a scheme
			if _, declared := s.names[name]; !declared {
				// Reported once for the document: some require such a scheme in each operation.
				ps.at(s.declared, codeSecurityUndefined, "security scheme %q is required but not declared; the credential of the API is used if one is configured", name)
			}
			use := SchemeUse{Scheme: strings.Clone(name)}
			for _, scope := range scopes {
				use.Scopes = append(use.Scopes, strings.Clone(scope))
			}
			r = append(r, use)
		}
		all = append(all, r)
	}
	return all
}
