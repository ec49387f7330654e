package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"drawbridge/openapi/jsonscan"
)

// serverMetadata is the part of an authorization server's metadata that is used.
type serverMetadata struct{ keySet, introspection string }

// discover reads the issuer's metadata: OpenID Connect discovery, which most servers offer, else
// RFC 8414. Either document must name the configured issuer.
func (i *issuer) discover(ctx context.Context) (serverMetadata, error) {
	d, err := i.discoverOpenID(ctx)
	if err == nil {
		return d, nil
	}
	var network *url.Error
	if !errors.As(err, &network) { // the server is reachable
		if d, other := i.discoverOAuth(ctx); other == nil {
			return d, nil
		}
	}
	return serverMetadata{}, fmt.Errorf("discover: %w", err)
}

func (i *issuer) discoverOpenID(ctx context.Context) (serverMetadata, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.url)
	if err != nil {
		return serverMetadata{}, err
	}
	var text json.RawMessage
	if err := provider.Claims(&text); err != nil {
		return serverMetadata{}, err
	}
	return i.parseServerMetadata(text)
}

// discoverOAuth fetches the document of RFC 8414 section 3, whose well-known path precedes the path
// of the issuer.
func (i *issuer) discoverOAuth(ctx context.Context) (serverMetadata, error) {
	u, err := url.Parse(i.url)
	if err != nil {
		return serverMetadata{}, err
	}
	text, err := i.get(ctx, u.Scheme+"://"+u.Host+"/.well-known/oauth-authorization-server"+strings.TrimSuffix(u.EscapedPath(), "/"))
	if err != nil {
		return serverMetadata{}, err
	}
	return i.parseServerMetadata(text)
}

// parseServerMetadata reads metadata by exact member names, unlike encoding/json, and checks its
// issuer (RFC 8414 section 3.3).
func (i *issuer) parseServerMetadata(text []byte) (serverMetadata, error) {
	if info, err := jsonscan.Scan(text, jsonscan.Options{Unique: true}); err != nil {
		return serverMetadata{}, fmt.Errorf("read metadata: %w", err)
	} else if info.Kind != jsonscan.Object {
		return serverMetadata{}, errors.New("read metadata: not an object")
	}
	if name, _ := stringValue(jsonscan.Lookup(text, "issuer")); name != i.url {
		return serverMetadata{}, fmt.Errorf("metadata of issuer %q", shorten(name))
	}
	var d serverMetadata
	d.keySet, _ = stringValue(jsonscan.Lookup(text, "jwks_uri"))
	d.introspection, _ = stringValue(jsonscan.Lookup(text, "introspection_endpoint"))
	return d, nil
}

// checkEndpoint checks a URL of the metadata. The metadata of a remote issuer can't lead to a
// loopback address.
func (i *issuer) checkEndpoint(name, location string) error {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return fmt.Errorf("discover: %s %q is not an absolute URL", name, location)
	}
	if err := checkFetchURL(u); err != nil {
		return fmt.Errorf("discover: %s %q: %w", name, location, err)
	}
	if u.Scheme == "http" && !strings.HasPrefix(i.url, "http://") {
		return fmt.Errorf("discover: %s %q is not https, as the issuer is", name, location)
	}
	return nil
}

func (i *issuer) setKeySetURL(d serverMetadata, at time.Time) error {
	if err := i.checkEndpoint("jwks_uri", d.keySet); err != nil {
		return err
	}
	i.jwksURL, i.discovered = d.keySet, at
	return nil
}

func (i *issuer) setIntrospectionEndpoint(d serverMetadata, at time.Time) error {
	if err := i.checkEndpoint("introspection_endpoint", d.introspection); err != nil {
		return err
	}
	i.introspector.setEndpoint(i.url, d.introspection)
	i.discovered = at
	i.fetched.Store(at.UnixNano())
	i.keep(&keyRecord{introspection: d.introspection, fetched: at})
	return nil
}
