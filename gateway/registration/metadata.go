package registration

import (
	"net/http"

	"drawbridge/auth/oauthserver"
)

// metadata is the document of RFC 8414 section 2.
type metadata struct {
	Issuer                 string   `json:"issuer"`
	AuthorizationEndpoint  string   `json:"authorization_endpoint"`
	TokenEndpoint          string   `json:"token_endpoint"`
	Registration           string   `json:"registration_endpoint"`
	Scopes                 []string `json:"scopes_supported,omitempty"`
	ResponseTypes          []string `json:"response_types_supported"`
	ResponseModes          []string `json:"response_modes_supported"`
	Grants                 []string `json:"grant_types_supported"`
	TokenAuth              []string `json:"token_endpoint_auth_methods_supported"`
	ChallengeMethods       []string `json:"code_challenge_methods_supported"`
	IssuerInResponse       bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	ClientMetadataDocument bool     `json:"client_id_metadata_document_supported"`
	ProtectedResources     []string `json:"protected_resources,omitempty"` // RFC 9728 section 4
}

func (g *generation) newMetadata() *metadata {
	return &metadata{
		Issuer: g.issuer, AuthorizationEndpoint: g.issuer + authorizePath, TokenEndpoint: g.issuer + tokenPath, Registration: g.issuer + registerPath,
		Scopes: g.defaultScopes, ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, Grants: []string{oauthserver.GrantCode, oauthserver.GrantRefresh},
		TokenAuth: []string{"none"}, ChallengeMethods: []string{"S256"}, IssuerInResponse: true, ClientMetadataDocument: true, ProtectedResources: g.resources,
	}
}

func (s *Server) serveMetadata(w http.ResponseWriter, _ *http.Request, g *generation) {
	w.Header().Set("Cache-Control", "public, max-age=60")
	oauthserver.WriteJSON(w, http.StatusOK, g.metadata)
}
