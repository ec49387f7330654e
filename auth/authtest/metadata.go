package authtest

import (
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/auth/oauthserver"
)

// Paths of the endpoints, below the issuer identifier.
const (
	pathAuthorize  = "/authorize"
	pathConsent    = "/consent"
	pathToken      = "/token"
	pathRegister   = "/register"
	pathIntrospect = "/introspect"
	pathRevoke     = "/revoke"
	pathKeys       = "/jwks"
)

// discoveryPaths are the well-known paths for the metadata of an issuer with that path: RFC 8414
// section 3.1, the same with the name of OpenID Connect (section 5), and OpenID Connect Discovery
// section 4.
func discoveryPaths(base string) []string {
	paths := []string{
		"/.well-known/oauth-authorization-server" + base,
		"/.well-known/openid-configuration" + base,
		base + "/.well-known/openid-configuration",
	}
	return slices.Compact(paths)
}

// metadata is the document of RFC 8414 section 2 and OpenID Connect Discovery section 3.
type metadata struct {
	Issuer                 string                    `json:"issuer"`
	AuthorizationEndpoint  string                    `json:"authorization_endpoint"`
	TokenEndpoint          string                    `json:"token_endpoint"`
	KeySet                 string                    `json:"jwks_uri"`
	Registration           string                    `json:"registration_endpoint"`
	Introspection          string                    `json:"introspection_endpoint"`
	Revocation             string                    `json:"revocation_endpoint"`
	Scopes                 []string                  `json:"scopes_supported,omitempty"`
	ResponseTypes          []string                  `json:"response_types_supported"`
	ResponseModes          []string                  `json:"response_modes_supported"`
	Grants                 []string                  `json:"grant_types_supported"`
	TokenAuth              []string                  `json:"token_endpoint_auth_methods_supported"`
	IntrospectionAuth      []string                  `json:"introspection_endpoint_auth_methods_supported"`
	RevocationAuth         []string                  `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods       []string                  `json:"code_challenge_methods_supported"`
	Subjects               []string                  `json:"subject_types_supported"`
	IDTokenAlgorithms      []string                  `json:"id_token_signing_alg_values_supported"`
	ProofAlgorithms        []jose.SignatureAlgorithm `json:"dpop_signing_alg_values_supported"`
	IssuerInAnswer         bool                      `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	ClientMetadataDocument bool                      `json:"client_id_metadata_document_supported"`
	ProtectedResources     []string                  `json:"protected_resources,omitempty"` // RFC 9728 section 4
}

func (s *Server) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	m := metadata{
		Issuer:                s.issuer.String(),
		AuthorizationEndpoint: s.url(pathAuthorize), TokenEndpoint: s.url(pathToken), KeySet: s.url(pathKeys),
		Registration: s.url(pathRegister), Introspection: s.url(pathIntrospect), Revocation: s.url(pathRevoke),
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		Grants:            s.grants,
		TokenAuth:         []string{"none", "client_secret_basic", "client_secret_post"},
		IntrospectionAuth: []string{"client_secret_basic", "client_secret_post"},
		RevocationAuth:    []string{"none", "client_secret_basic", "client_secret_post"},
		ChallengeMethods:  []string{"S256"},
		Subjects:          []string{"public"}, IDTokenAlgorithms: []string{s.algorithm},
		ProofAlgorithms: proofAlgorithms(), IssuerInAnswer: true, ClientMetadataDocument: true,
		ProtectedResources: s.resources,
	}
	for _, scope := range s.scopes {
		m.Scopes = append(m.Scopes, scope.Name)
	}
	oauthserver.WriteJSON(w, http.StatusOK, m)
}
