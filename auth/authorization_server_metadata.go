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

// document is what is read of an authorization server's metadata.
type document struct{ keySet, introspection string }

// discover reads the metadata of the issuer: that of OpenID Connect, which most
// servers have, else that of RFC 8414. Either must name the configured issuer.
func (i *issuer) discover(ctx context.Context) (document, error) {
	d, err := i.discoverOpenID(ctx)
	if err == nil {
		return d, nil
	}
	var network *url.Error
	if !errors.As(err, &network) { // the server is there
		if d, other := i.discoverOAuth(ctx); other == nil {
			return d, nil
		}
	}
	return document{}, fmt.Errorf("discover: %w", err)
}

func (i *issuer) discoverOpenID(ctx context.Context) (document, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.url)
	if err != nil {
		return document{}, err
	}
	var text json.RawMessage
	if err := provider.Claims(&text); err != nil {
		return document{}, err
	}
	return i.readDocument(text)
}

// discoverOAuth fetches the document of RFC 8414 section 3: the well-known path
// stands before that of the issuer.
func (i *issuer) discoverOAuth(ctx context.Context) (document, error) {
	u, err := url.Parse(i.url)
	if err != nil {
		return document{}, err
	}
	text, err := i.get(ctx, u.Scheme+"://"+u.Host+"/.well-known/oauth-authorization-server"+strings.TrimSuffix(u.EscapedPath(), "/"))
	if err != nil {
		return document{}, err
	}
	return i.readDocument(text)
}

// readDocument reads metadata by exact names, which encoding/json does not, and
// checks whose it is (RFC 8414 section 3.3).
func (i *issuer) readDocument(text []byte) (document, error) {
	if info, err := jsonscan.Scan(text, jsonscan.Options{Unique: true}); err != nil {
		return document{}, fmt.Errorf("read metadata: %w", err)
	} else if info.Kind != jsonscan.Object {
		return document{}, errors.New("read metadata: not an object")
	}
	if name, _ := text1(jsonscan.Lookup(text, "issuer")); name != i.url {
		return document{}, fmt.Errorf("metadata of issuer %q", shorten(name))
	}
	var d document
	d.keySet, _ = text1(jsonscan.Lookup(text, "jwks_uri"))
	d.introspection, _ = text1(jsonscan.Lookup(text, "introspection_endpoint"))
	return d, nil
}

// checkEndpoint checks a URL of the metadata. That of an issuer elsewhere can't
// lead to this machine.
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

func (i *issuer) learnKeySet(d document, at time.Time) error {
	if err := i.checkEndpoint("jwks_uri", d.keySet); err != nil {
		return err
	}
	i.jwksURL, i.discovered = d.keySet, at
	return nil
}

func (i *issuer) learnEndpoint(d document, at time.Time) error {
	if err := i.checkEndpoint("introspection_endpoint", d.introspection); err != nil {
		return err
	}
	i.asks.setEndpoint(i.url, d.introspection)
	i.discovered = at
	i.fetched.Store(at.UnixNano())
	return nil
}
