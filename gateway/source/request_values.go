package source

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/openapi"
)

// requestValues returns the options for the values that are added to every request to the service of an API.
func requestValues(r *config.APIRequest, to *url.URL) credential.RequestValuesOptions {
	list := func(values map[string]*config.RequestValue) (all []credential.RequestValue) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v := values[name]
			all = append(all, credential.RequestValue{Name: name, Value: cmp.Or(v.Value, v.Secret.Reveal()), Claim: v.Claim})
		}
		return all
	}
	return credential.RequestValuesOptions{Headers: list(r.Headers), Query: list(r.Query), Claim: claimText, Origin: to}
}

// claimText returns the text of a claim of the caller to which ctx belongs.
func claimText(ctx context.Context, name string) (text string, found, ok bool) {
	value := auth.FromContext(ctx).Claim(name)
	text, ok = openapi.PlainText(value)
	return text, value != nil, ok
}
