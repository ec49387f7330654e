package former

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"drawbridge/config"
)

// Document is the document of an API, with the operations that were compared.
type Document struct {
	Was, Is    string                      // the name of the API, under both configurations
	Operations []config.Subject            // the operations that were compared
	Opened     map[string][]config.Subject // those with wider access, by the kind of it, such as [NoConsent]
	// OtherService reports whether the API is an additional one whose calls go to another service than those of each API with the same
	// document.
	OtherService bool
}

func (w *comparison) apis(old, new *Summary, documents func(i int) *Document) {
	known := slices.Concat(old.APIs, old.Gone)
	baselines := baselinesOf(old, new, func(i int) bool {
		if documents == nil {
			return false
		}
		d := documents(i)
		return d != nil && d.OtherService
	})
	for i, n := range new.APIs {
		key := "apis: " + cmp.Or(n.Name, "one without name")
		var d *Document
		if documents != nil {
			d = documents(i)
		}
		switch {
		case len(baselines[i]) > 0:
			for _, o := range baselines[i] {
				w.sameAPI(key, o, &n, old, new, d)
			}
		case n.Name != "" && slices.ContainsFunc(known, func(o API) bool { return o.Name == n.Name }):
			w.when(!inEntry(old.APIs, n), key, "the document is another, so its operations can't be compared")
		case slices.ContainsFunc(old.APIs, func(o API) bool { return !inEntry(new.APIs, o) }):
			w.when(!inEntry(old.APIs, n), key, "it comes in the place of another, and nothing tells whether its tools are the same")
		}
	}
}

// baselinesOf returns the old APIs that each new API is compared with: the one with the same name
// and document, else the renamed one with the same document. An API whose document had several
// entries is compared with each of them; removed entries are used only if there are no others. An
// additional API with a base URL of its own is a new one: the document describes another service.
func baselinesOf(old, new *Summary, otherService func(i int) bool) [][]*API {
	known := slices.Concat(old.APIs, old.Gone)
	type entry struct {
		API
		gone bool
	}
	var before, after []entry
	for i, a := range known {
		before = append(before, entry{a, i >= len(old.APIs)})
	}
	for _, a := range new.APIs {
		after = append(after, entry{API: a})
	}
	succeeds, _ := Pair(before, after, func(o, n entry) bool { return o.equal(n.API) }, func(o, n entry) bool { return o.same(n.API) },
		func(o, n entry) bool { return !o.gone && o.Spec == n.Spec })
	baselines := make([][]*API, len(new.APIs))
	for i, at := range succeeds {
		if at >= 0 {
			baselines[i] = []*API{&known[at]}
			continue
		}
		for at := range known {
			if is, was := new.APIs[i].BaseURL, known[at].BaseURL; is != "" && is != was && (was != "" || otherService(i)) {
				continue
			}
			if known[at].Spec == new.APIs[i].Spec && (len(baselines[i]) == 0 || !before[at].gone) {
				baselines[i] = append(baselines[i], &known[at])
			}
		}
	}
	return baselines
}

// inEntry reports whether one of the APIs has the same entry of the file: documents of a directory
// come and go.
func inEntry(all []API, a API) bool {
	return slices.ContainsFunc(all, func(o API) bool { return o.Entry == a.Entry })
}

func (w *comparison) sameAPI(key string, o, n *API, old, new *Summary, d *Document) {
	w.when(o.BaseURL != n.BaseURL || o.Variables != n.Variables, key, "calls go to another place: base_url or server_variables is another")
	w.when(o.CAFile != n.CAFile, key, "ca_file is another, so other servers are trusted")
	w.when(o.ServerName != n.ServerName, key, "tls.server_name is another, so other servers are trusted")
	w.when(o.TLS13 && !n.TLS13, key, "tls.min_version is lower")
	w.when(n.Trusted && !o.Trusted, key, "trust_extensions lets the document decide on its restrictions")
	w.when(o.Trusted && !n.Trusted, key, "trust_extensions is off, so the restrictions in the document no longer apply")
	w.when(!contains(o.Slashes, n.Slashes), key, "slash_parameters lets arguments lead to more paths")
	w.when(!contains(n.NoSlashes, o.NoSlashes), key, "slash_parameters rejects fewer slashes, so arguments may lead to more paths")
	w.when(!contains(o.PassHeaders, n.PassHeaders), key, "pass_headers passes on more of the caller's headers")
	w.when(!contains(o.AnswerHeaders, n.AnswerHeaders), key, "answer_headers shows callers more headers of the service's answers")
	w.when(n.Redirected && !o.Redirected, key, "follow_redirects lets the service lead calls to other paths")
	w.when(!contains(n.Dropped, o.Dropped), key, "drop_arguments lets more arguments through to the service")
	w.identities(key, o.Identities, n.Identities)
	w.added(key, "allow_servers lets calls go to %q", o.Servers, n.Servers, equal)
	w.when(n.Root != "" && n.Root != o.Root, key, "root lets the document take parts from other files")
	kept := len(n.Overlays) >= len(o.Overlays) && slices.Equal(n.Overlays[:len(o.Overlays)], o.Overlays)
	w.when(!kept, key, "overlays lacks one, or has them in another order, so what they removed may be there again")
	w.when(kept && n.Trusted && len(n.Overlays) > len(o.Overlays), key, "overlays has a new one, which with trust_extensions decides on restrictions")
	w.added(key, "allow_refs lets the document take parts from %q", o.Refs, n.Refs, equal)
	w.networks(key, "allow_addresses lets calls go to %s", o.Addresses, n.Addresses)
	w.when(n.Proxy != "" && n.Proxy != o.Proxy, key, "proxy lets calls go through another proxy")
	w.when(n.SpecProxy != "" && n.SpecProxy != o.SpecProxy, key, "spec_proxy has the document fetched through another proxy")
	w.when(n.Unchecked && !o.Unchecked, key, "proxy.resolve leaves the addresses of services unchecked")
	w.when(len(o.Addresses) > 0 && len(n.Addresses) == 0, key, "allow_addresses does not bound any more where calls go")
	if new.Auth != nil && old.Auth != nil {
		w.when(o.DocumentScopes && !n.DocumentScopes, key, "scopes_from_document is off, so calls need fewer scopes")
		w.when(o.DocumentScopes && n.DocumentScopes && !mapsAsStrictly(n.ScopeMap, o.ScopeMap, old.Auth.Implies), key, "scope_map is another, so calls may need other scopes")
	}
	w.when(n.Rate.exceeds(o.Rate), key, "rate is gone or allows more calls")
	w.when(o.MaxInFlight > 0 && n.MaxInFlight > o.MaxInFlight, key, "max_in_flight lets more calls run at once")
	w.restrictions(key, o, n, old, new, d)
}

// mapsAsStrictly reports whether a mapping of a document's scopes is as strict as an old one.
func mapsAsStrictly(new, old string, implies map[string][]string) bool {
	if new == old {
		return true
	}
	var is, was map[string][]string
	if new != "" && json.Unmarshal([]byte(new), &is) != nil || old != "" && json.Unmarshal([]byte(old), &was) != nil {
		return false
	}
	of := func(m map[string][]string, scope string) []string {
		if mapped, ok := m[scope]; ok {
			return mapped
		}
		return []string{scope}
	}
	for _, scope := range slices.Concat(slices.Collect(maps.Keys(is)), slices.Collect(maps.Keys(was))) {
		if !AsStrict(of(is, scope), of(was, scope), implies) {
			return false
		}
	}
	return true
}
