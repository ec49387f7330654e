package authe2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// tokenKind is a token that Keycloak issues, and the status of a call with it.
type tokenKind struct {
	name       string
	attributes map[string]string // of the client
	without    string            // a default scope that the client lacks
	mapper     bool              // the client has a mapper that puts the resource into ID tokens too
	machine    bool              // client credentials in place of a user
	scope      string
	member     string // of the answer of the token endpoint
	status     int
}

// tokenKinds are accepted and refused by the preset. An ID token, above all, must not pass for an access token.
func tokenKinds() []tokenKind {
	const access, reading = "access_token", "openid orders:read"
	return []tokenKind{
		{name: "access token", scope: reading, member: access, status: http.StatusOK},
		{name: "access token with the type of RFC 9068", scope: reading, member: access, status: http.StatusOK,
			attributes: map[string]string{"access.token.header.type.rfc9068": "true"}},
		{name: "access token, ES256", scope: reading, member: access, status: http.StatusOK,
			attributes: map[string]string{"access.token.signed.response.alg": "ES256"}},
		{name: "access token, EdDSA", scope: reading, member: access, status: http.StatusOK,
			attributes: map[string]string{"access.token.signed.response.alg": "EdDSA"}},
		{name: "access token of a machine", scope: "orders:read", member: access, status: http.StatusOK, machine: true},
		{name: "access token, offline", scope: reading + " offline_access", member: access, status: http.StatusOK},
		{name: "access token, HS512", scope: reading, member: access, status: http.StatusUnauthorized,
			attributes: map[string]string{"access.token.signed.response.alg": "HS512"}},
		{name: "access token without a scope of the gateway", scope: "openid", member: access, status: http.StatusUnauthorized},
		{name: "access token without the scope basic", scope: reading, member: access, status: http.StatusUnauthorized, without: "basic"},
		{name: "lightweight access token", scope: reading, member: access, status: http.StatusUnauthorized,
			attributes: map[string]string{"client.use.lightweight.access.token.enabled": "true"}},
		{name: "ID token", scope: reading, member: "id_token", status: http.StatusUnauthorized},
		{name: "ID token with the resource as audience", scope: reading, member: "id_token", status: http.StatusUnauthorized, mapper: true},
		{name: "refresh token", scope: reading, member: "refresh_token", status: http.StatusUnauthorized},
		{name: "offline token", scope: reading + " offline_access", member: "refresh_token", status: http.StatusUnauthorized},
	}
}

// tokens has Keycloak issue a token of each kind and calls with it.
func (k *keycloakRun) tokens(ctx context.Context, t *testing.T) {
	for name, algorithm := range map[string]string{"ecdsa-generated": "ecdsaEllipticCurveKey=P-256", "eddsa-generated": "eddsaEllipticCurveKey=Ed25519"} {
		key, value, _ := strings.Cut(algorithm, "=")
		err := k.keycloak.admin(ctx, http.MethodPost, "/components", component{
			Name: name, ProviderID: name, ProviderType: keyProvider, Config: map[string][]string{"priority": {"50"}, key: {value}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	for n, kind := range tokenKinds() {
		t.Run(kind.name, func(t *testing.T) {
			token, err := k.issue(ctx, fmt.Sprintf("probe-%d", n), kind)
			if err != nil {
				t.Fatal(err)
			}
			k.secrets.add(kind.name, token)
			status, err := k.try(ctx, token)
			header, claims := decode(t, token)
			t.Logf("status %d: header %v, claims %v", status, header, claims)
			if err == nil && status != kind.status {
				err = fmt.Errorf("status %d, want %d", status, kind.status)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// issue makes a client for a kind of token and has it request one, with the user's password: no login page is needed.
func (k *keycloakRun) issue(ctx context.Context, id string, kind tokenKind) (string, error) {
	secret := newSecret()
	k.secrets.add("the secret of a client", secret)
	scopes := []string{}
	for _, scope := range []string{"basic", "profile", "roles"} {
		if scope != kind.without {
			scopes = append(scopes, scope)
		}
	}
	attributes := map[string]string{"use.refresh.tokens": "true"}
	maps.Copy(attributes, kind.attributes)
	client := map[string]any{
		"clientId": id, "secret": secret, "publicClient": false, "standardFlowEnabled": false, "directAccessGrantsEnabled": true,
		"serviceAccountsEnabled": kind.machine, "fullScopeAllowed": false, "attributes": attributes, "defaultClientScopes": scopes,
		"optionalClientScopes": []string{"offline_access", "orders:read"},
	}
	if kind.mapper {
		client["protocolMappers"] = []any{map[string]any{
			"name": "resource", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
			"config": map[string]string{"included.custom.audience": k.endpoint, "id.token.claim": "true", "access.token.claim": "true"},
		}}
	}
	if err := k.keycloak.admin(ctx, http.MethodPost, "/clients", client, nil); err != nil {
		return "", err
	}
	form := url.Values{"grant_type": {"password"}, "username": {k.user.Name}, "password": {k.user.Password}}
	if kind.machine {
		form = url.Values{"grant_type": {"client_credentials"}}
	}
	form.Set("client_id", id)
	form.Set("client_secret", secret)
	form.Set("scope", kind.scope)
	got, err := k.keycloak.token(ctx, "acme", form)
	if err != nil {
		return "", err
	}
	token, _ := got[kind.member].(string)
	if token == "" {
		return "", fmt.Errorf("the answer has no %s", kind.member)
	}
	return token, nil
}
