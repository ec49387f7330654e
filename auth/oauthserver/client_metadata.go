package oauthserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

// Grant types of public clients.
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
)

const (
	// MaxClientMetadata limits client metadata in bytes.
	MaxClientMetadata = 64 << 10
	maxRedirectURIs   = 16
)

// ClientMetadata is client metadata (RFC 7591 section 2), in requests, responses and client ID
// metadata documents. Other members are ignored, as section 2 says.
type ClientMetadata struct {
	ID            string   `json:"client_id,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"` // Unix time
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	Grants        []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
}

// ReadClientMetadata parses and checks client metadata.
func ReadClientMetadata(text []byte) (*ClientMetadata, *Error) {
	info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: 32, Unique: true})
	if err != nil || info.Kind != jsonscan.Object {
		return nil, NewError(InvalidClientMetadata, "the body is not a JSON object with unique members")
	}
	var m ClientMetadata
	if err := json.Unmarshal(text, &m); err != nil {
		name := "?"
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			name = wrong.Field
		}
		return nil, NewError(InvalidClientMetadata, "member '%s' has the wrong type", name)
	}
	if len(m.RedirectURIs) == 0 || len(m.RedirectURIs) > maxRedirectURIs {
		return nil, NewError(InvalidRedirectURI, "%d redirect_uris, not 1 to %d", len(m.RedirectURIs), maxRedirectURIs)
	}
	for _, uri := range m.RedirectURIs {
		if reason := CheckRedirectURI(uri); reason != "" {
			return nil, NewError(InvalidRedirectURI, "redirect URI '%s' %s", uri, reason)
		}
	}
	if len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code") {
		return nil, NewError(InvalidClientMetadata, "response_types does not contain 'code', the only one")
	}
	if len(m.Grants) == 0 {
		m.Grants = []string{GrantCode} // RFC 7591 section 2
	}
	if !slices.Contains(m.Grants, GrantCode) {
		return nil, NewError(InvalidClientMetadata, "grant_types does not contain '%s'", GrantCode)
	}
	m.Grants = slices.DeleteFunc(m.Grants, func(g string) bool { return g != GrantCode && g != GrantRefresh })
	slices.Sort(m.Grants)
	m.Grants = slices.Compact(m.Grants)
	return &m, nil
}

// ReadRegistration reads the body of a registration request (RFC 7591 section 3.1). The client that it describes is public: unsupported
// metadata is replaced, as section 3.2.1 allows.
func ReadRegistration(w http.ResponseWriter, r *http.Request) (*ClientMetadata, *Error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, NewError(InvalidRequest, "the body has to be application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxClientMetadata))
	if err != nil {
		return nil, NewError(InvalidRequest, "the body has more than %d bytes", MaxClientMetadata)
	}
	m, p := ReadClientMetadata(text)
	if p != nil {
		return nil, p
	}
	scopes, p := ReadScopes(m.Scope)
	if p != nil {
		return nil, NewError(InvalidClientMetadata, "%s", p.Description)
	}
	m.Scope, m.AuthMethod, m.ResponseTypes = strings.Join(scopes, " "), "none", []string{"code"}
	return m, nil
}

// IsMetadataURL reports whether a client_id is the URL of a metadata document
// (draft-ietf-oauth-client-id-metadata-document section 2): https with a path, without dot
// segments, user and fragment. It may also be http on loopback, for development. Like a redirect
// URI it is ASCII: its host is shown to users, and letters of other alphabets imitate those of another host.
func IsMetadataURL(id string) bool {
	u, err := url.Parse(id)
	if err != nil || u.Host == "" || u.User != nil || hasOtherCharacters(id) || !hostPattern.MatchString(u.Host) || len(id) > MaxRedirectURI {
		return false
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !origin.Loopback(u.Hostname())) {
		return false
	}
	segments := strings.Split(u.Path, "/")
	return len(u.Path) > 1 && !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
}

// FetchClientMetadata fetches the metadata document at a client_id, of at most limit bytes, with a client that decides which addresses
// it may reach and that follows no redirects. The client that it describes is public. The reason that a document can't be read is the Cause
// of the error alone: anybody can ask for any URL, and would learn names and addresses of the network.
func FetchClientMetadata(ctx context.Context, client *http.Client, id string, limit int64) (*ClientMetadata, *Error) {
	text, err := fetchDocument(ctx, client, id, limit)
	if err != nil {
		p := NewError(InvalidClient, "the metadata document '%s' can't be read", id)
		p.Cause = err
		return nil, p
	}
	m, p := ReadClientMetadata(text)
	if p != nil {
		return nil, NewError(InvalidClient, "the metadata document '%s': %s", id, p.Description)
	}
	if m.ID != id {
		return nil, NewError(InvalidClient, "the metadata document '%s' is for client_id '%s'", id, m.ID)
	}
	if method := cmp.Or(m.AuthMethod, "none"); method != "none" {
		return nil, NewError(InvalidClient, "the metadata document '%s' asks for token_endpoint_auth_method '%s'; here it is 'none'", id, method)
	}
	return m, nil
}

func fetchDocument(ctx context.Context, client *http.Client, id string, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL, which the reader has
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("status " + resp.Status)
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, errors.New("it is not JSON")
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, errors.New("it ends too early")
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it has more than %d KiB", limit>>10)
	}
	return text, nil
}
