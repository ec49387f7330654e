package widening

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// identitiesOf returns the identities that the service of an API sees: the gateway, or a caller.
// The values are their kinds with digests of the parts that are not secret. A changed secret is not
// a changed identity: a renewed token can't be distinguished from a token of somebody else.
func identitiesOf(api *config.API) map[string]string {
	all := map[string]string{}
	keys, credentials := api.AllCredentials()
	for i, c := range credentials {
		if c != api.SpecCredential {
			all[keys[i]] = string(c.Type) + " " + digestOf(reflect.ValueOf(c))
		}
	}
	if i := api.Identity; i != nil {
		all["identity"] = digest(string(encoded([]any{i.Audience, i.HeaderName(), stateOf(reflect.ValueOf(i).Elem())})))
	}
	if api.ClientCertificate != nil {
		all["client_certificate"] = digestOf(reflect.ValueOf(api.ClientCertificate))
	}
	if r := api.Request; r != nil {
		for kind, values := range map[string]map[string]*config.RequestValue{"headers": r.Headers, "query": r.Query} {
			for name, v := range values {
				all["request."+kind+"."+name] = requestValueOf(v)
			}
		}
	}
	for _, h := range api.PassHeaders {
		if h.IsCredential() {
			all["pass_headers to "+h.To] = digest(h.From)
		}
	}
	return all
}

// requestValueOf identifies a value that requests have; secrets are rotated.
func requestValueOf(v *config.RequestValue) string {
	switch {
	case v.Claim != "":
		return "claim " + digest(v.Claim)
	case !v.Secret.IsZero():
		return "secret"
	}
	return "value " + digest(v.Value)
}

// identities compares the identities that services see. Sending no identity any more is not wider.
func (w *comparison) identities(key string, old, new map[string]string) {
	if len(new) == 0 || maps.Equal(old, new) {
		return
	}
	kind := func(v string) string { name, _, _ := strings.Cut(v, " "); return name }
	var changes []string
	for _, of := range slices.Sorted(maps.Keys(old)) {
		is, ok := new[of]
		switch was := old[of]; {
		case !ok:
			changes = append(changes, of+" is gone")
		case is != was && kind(is) != kind(was) && strings.Contains(was, " "):
			changes = append(changes, fmt.Sprintf("%s was of type %s and is of type %s", of, kind(was), kind(is)))
		case is != was:
			changes = append(changes, of+" is another")
		}
	}
	for _, of := range slices.Sorted(maps.Keys(new)) {
		if _, ok := old[of]; !ok {
			changes = append(changes, of+" is new")
		}
	}
	w.when(true, key, "calls reach the service in another name: %s", strings.Join(changes, ", "))
}
