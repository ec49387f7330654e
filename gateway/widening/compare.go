package widening

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Wider lists in what a configuration gives more access than the one before it; nothing if it does not. Each is a sentence without a
// full stop that begins with a key of the configuration. What an API that is new allows by itself is no wider access: nothing restricted
// it before. judged tells of new.APIs[i] that all of its operations were compared one by one, so that the rules and selectors for
// them need not be; it may be nil.
func Wider(old, new *Summary, judged func(i int) bool) (opens []string) {
	w := &comparison{}
	w.auth(old, new)
	w.added("server.allowed_hosts", "requests for the host %q are let in", old.Hosts, new.Hosts, coversHost)
	w.added("admin.allowed_hosts", "operators' requests for the host %q are let in", old.AdminHosts, new.AdminHosts, coversHost)
	w.added("server.allowed_origins", "pages of the origin %q are let in", old.Origins, new.Origins, equal)
	w.networks("server.trusted_proxies", "the word of %s about its callers' addresses is taken", old.Proxies, new.Proxies)
	w.added("tools.callback_urls", "the gateway calls %q for its callers", old.CallbackURLs, new.CallbackURLs, equal)
	w.when(old.ClientCAs && !new.ClientCAs, "server.tls.client_ca_file", "clients need no certificate any more")
	w.when(old.Lock != "" && new.Lock == "", "tools.lock", "tools need no approval any more")
	w.when(old.Lock != "" && new.Lock != "" && new.Lock != old.Lock, "tools.lock", "another file approves the tools")
	w.when(old.Confirm && !new.Confirm, "tools.confirm", "destructive tools do not wait for consent any more")
	w.when(old.Refuse && !new.Refuse, "tools.unconfirmed", "calls go on where nobody can be asked for consent")
	w.when(len(new.Exempt) > 0 && (len(old.Exempt) == 0 || !contains(new.Exempt, old.Exempt)), "tools.unconfirmed_scopes",
		"callers with other scopes than before are not asked for consent")
	w.endpoints(old, new)
	w.prompts(old, new)
	w.apis(old, new, judged)
	return w.opens
}

// comparison collects in what a configuration is wider.
type comparison struct{ opens []string }

func (w *comparison) when(wider bool, key, format string, args ...any) {
	if wider {
		w.opens = append(w.opens, key+": "+fmt.Sprintf(format, args...))
	}
}

// added reports each value that none of the old ones covers.
func (w *comparison) added(key, format string, old, new []string, covers func(old, new string) bool) {
	for _, v := range new {
		w.when(!slices.ContainsFunc(old, func(o string) bool { return covers(o, v) }), key, format, v)
	}
}

func equal(old, new string) bool { return old == new }

// coversHost: an entry without a port stands for every port.
func coversHost(old, new string) bool {
	return old == new || !strings.Contains(strings.TrimPrefix(new, old), "]") && strings.HasPrefix(new, old+":") && strings.Count(new[len(old):], ":") == 1
}

func (w *comparison) networks(key, format string, old, new []netip.Prefix) {
	for _, n := range new {
		w.when(!slices.ContainsFunc(old, func(o netip.Prefix) bool { return o.Bits() <= n.Bits() && o.Contains(n.Addr()) }), key, format, n)
	}
}

// contains reports whether all of part stands in whole.
func contains(whole, part []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// within reports whether a list that restricts where it has entries does not allow more than the old one.
func within(old, new []string) bool {
	return len(old) == 0 || len(new) > 0 && contains(old, new)
}

func (w *comparison) auth(old, new *Summary) {
	switch {
	case old.Auth == nil:
		w.when(new.Anonymous && !old.Anonymous, "auth.anonymous", "everybody who reaches the gateway is served, on any address")
		return // nobody needed a token
	case new.Auth == nil:
		w.when(true, "auth", "nobody needs a token any more")
		return
	}
	o, n := old.Auth, new.Auth
	w.when(n.AllowUnscoped && !o.AllowUnscoped, "auth.allow_unscoped", "operations without scopes of their own need none")
	w.when(!AsStrict(n.DefaultScopes, o.DefaultScopes, o.Implies), "auth.default_scopes", "%s suffices where %s was needed", scopes(n.DefaultScopes), scopes(o.DefaultScopes))
	w.when(o.Hide && !n.Hide, "auth.hide_unauthorized", "callers see tools that they may not call")
	w.when(o.Nonce && !n.Nonce, "auth.dpop_nonce", "proofs of possession need no nonce any more")
	for _, scope := range slices.Sorted(maps.Keys(n.Implies)) {
		for _, granted := range closure(n.Implies, []string{scope}) {
			w.when(!slices.Contains(closure(o.Implies, []string{scope}), granted), "auth.implies."+scope, "the scope %q grants %q", scope, granted)
		}
	}
	for _, is := range n.Issuers {
		if at := slices.IndexFunc(o.Issuers, func(was Issuer) bool { return was.URL == is.URL }); at >= 0 {
			w.issuer(&o.Issuers[at], &is)
		} else {
			w.when(true, "auth.issuers", "tokens of %s are accepted", is.URL)
		}
	}
}

func (w *comparison) issuer(o, n *Issuer) {
	when := func(wider bool, format string, args ...any) {
		w.when(wider, "auth.issuers", "of %s, "+format, append([]any{n.URL}, args...)...)
	}
	when(o.Preset != n.Preset, "preset is another, which decides what tokens are accepted")
	when(o.Opaque != n.Opaque, "tokens of another kind are accepted")
	when(o.Introspection != n.Introspection, "another URL is asked about tokens")
	when(o.CAFile != n.CAFile, "ca_file is another, so other servers are believed")
	for _, aud := range n.Audiences {
		when(!slices.Contains(o.Audiences, aud), "tokens for the audience %q are accepted", aud)
	}
	when(!within(o.ClientIDs, n.ClientIDs) || len(o.ClientIDs) == 0 && len(n.ClientIDs) > 0, "client_ids accepts tokens of clients that were refused")
	when(o.RequireClient && !n.RequireClient, "tokens need not name their client any more")
	when(!slices.Equal(o.IDTokenClaims, n.IDTokenClaims) && (len(o.IDTokenClaims) == 0 || len(n.IDTokenClaims) == 0 || !contains(n.IDTokenClaims, o.IDTokenClaims)),
		"id_token_claims is another, which decides what ID tokens are refused")
	when(!slices.Equal(o.ScopeClaims, n.ScopeClaims), "scopes are taken from other claims")
	when(o.MaxLifetime > 0 && (n.MaxLifetime == 0 || n.MaxLifetime > o.MaxLifetime), "tokens of a longer lifetime are accepted")
	when(n.DPoP != o.DPoP && (o.DPoP == "require" || n.DPoP == "accept"), "dpop: %s accepts tokens that %s refused", n.DPoP, o.DPoP)
	when(!contains(o.Algorithms, n.Algorithms), "more algorithms are accepted")
	when(!contains(o.Types, n.Types), "accept_typ accepts more kinds of tokens")
	when(n.Skew > o.Skew, "skew is larger, so that expired tokens are accepted for longer")
}

func (w *comparison) endpoints(old, new *Summary) {
	if old.Auth == nil || new.Auth == nil {
		return // the same tools as on /mcp, without a token
	}
	for _, n := range new.Endpoints {
		at := slices.IndexFunc(old.Endpoints, func(o Endpoint) bool { return o.Name == n.Name })
		if at < 0 {
			w.when(true, "endpoints", "tokens for the endpoint %q are accepted", n.Name)
			continue
		}
		o := old.Endpoints[at]
		was, is := orDefault(o.DefaultScopes, old.Auth), orDefault(n.DefaultScopes, new.Auth)
		w.when(!AsStrict(is, was, old.Auth.Implies), "endpoints", "of %q, %s suffices where %s was needed", n.Name, scopes(is), scopes(was))
		w.when(o.Match != n.Match, "endpoints", "of %q, match selects other operations", n.Name)
	}
}

// prompts compares what the prompts of both need. One that is new is judged as a new API is.
func (w *comparison) prompts(old, new *Summary) {
	if old.Auth == nil || new.Auth == nil {
		return
	}
	for _, n := range new.Prompts {
		for _, o := range old.Prompts {
			is, was := orDefault(n.Scopes, new.Auth), orDefault(o.Scopes, old.Auth)
			w.when(o.Name == n.Name && !AsStrict(is, was, old.Auth.Implies), "prompts", "of %q, %s suffices where %s was needed", n.Name, scopes(is), scopes(was))
		}
	}
}

func orDefault(list []string, a *Auth) []string {
	if len(list) == 0 {
		return a.DefaultScopes
	}
	return list
}

// AsStrict reports whether a caller with all the scopes of new had those of old, too, by what scopes implied.
func AsStrict(new, old []string, implies map[string][]string) bool {
	return contains(closure(implies, new), old)
}

// closure returns scopes with all that they grant.
func closure(implies map[string][]string, from []string) []string {
	all := slices.Clone(from)
	for i := 0; i < len(all); i++ {
		for _, granted := range implies[all[i]] {
			if !slices.Contains(all, granted) {
				all = append(all, granted)
			}
		}
	}
	return all
}

func scopes(list []string) string {
	switch len(list) {
	case 0:
		return "no scope"
	case 1:
		return fmt.Sprintf("the scope %q", list[0])
	}
	return fmt.Sprintf("the scopes %q", list)
}

// Baseline returns which of the old APIs one of the new is compared with: the one of the same name and document, else of the same document; false:
// there is none.
func Baseline(old []API, a API) (API, bool) {
	for _, same := range []func(API) bool{a.is, func(o API) bool { return o.Spec == a.Spec }} {
		if at := slices.IndexFunc(old, same); at >= 0 {
			return old[at], true
		}
	}
	return API{}, false
}

func (w *comparison) apis(old, new *Summary, judged func(i int) bool) {
	known := slices.Concat(old.APIs, old.Gone)
	for i, n := range new.APIs {
		key := "apis: " + cmp.Or(n.Name, "one without name")
		o, ok := Baseline(known, n)
		switch {
		case ok:
			w.sameAPI(key, &o, &n, old, new, judged != nil && judged(i))
		case n.Name != "" && slices.ContainsFunc(known, func(o API) bool { return o.Name == n.Name }):
			w.when(!inEntry(old.APIs, n), key, "the document is another, so its operations can't be compared")
		case slices.ContainsFunc(old.APIs, func(o API) bool { return !inEntry(new.APIs, o) }):
			w.when(!inEntry(old.APIs, n), key, "it comes in the place of another, and nothing tells whether its tools are the same")
		}
	}
}

// inEntry reports whether one of the APIs comes from the same entry of the file: documents of a directory come and go.
func inEntry(all []API, a API) bool {
	return slices.ContainsFunc(all, func(o API) bool { return o.Entry == a.Entry })
}

func (w *comparison) sameAPI(key string, o, n *API, old, new *Summary, judged bool) {
	w.when(o.BaseURL != n.BaseURL || o.Variables != n.Variables, key, "calls go to another place: base_url or server_variables is another")
	w.when(o.CAFile != n.CAFile, key, "ca_file is another, so other servers are believed")
	w.when(n.Trusted && !o.Trusted, key, "trust_extensions lets the document decide on its restrictions")
	w.when(!contains(o.Slashes, n.Slashes), key, "slash_parameters lets arguments lead to more paths")
	w.when(!contains(o.PassHeaders, n.PassHeaders), key, "pass_headers passes on more of the caller's headers")
	w.added(key, "allow_servers lets calls go to %q", o.Servers, n.Servers, equal)
	w.when(n.Root != "" && n.Root != o.Root, key, "root lets the document take parts from other files")
	w.added(key, "allow_refs lets the document take parts from %q", o.Refs, n.Refs, equal)
	w.networks(key, "allow_addresses lets calls go to %s", o.Addresses, n.Addresses)
	if len(o.Addresses) > 0 && len(n.Addresses) == 0 {
		w.when(true, key, "allow_addresses does not bound any more where calls go")
	}
	if judged {
		return
	}
	w.when(o.Include != "" && o.Include != n.Include, key, "tools.include is gone or another, so more operations may be tools")
	w.when(!contains(n.Exclude, o.Exclude), key, "tools.exclude lacks a selector that it had, so more operations may be tools")
	if new.Auth != nil && old.Auth != nil {
		w.when(o.DocumentScopes && !n.DocumentScopes, key, "scopes_from_document is off, so calls need fewer scopes")
		w.when(o.DocumentScopes && n.DocumentScopes && o.ScopeMap != n.ScopeMap, key, "scope_map is another, so calls may need other scopes")
	}
	if o.Name != n.Name && slices.ContainsFunc(o.Rules, func(r Rule) bool { return len(r.API) > 0 }) {
		w.when(true, key, "the name is another, and rules for the old one restricted it")
		return
	}
	w.rules(key, o.Rules, n.Rules, old, new)
}

// rules compares rules that can't be held against operations. Each old one must be there, in the same order, as it was or stricter; others may
// only restrict, because the last rule that matches wins.
func (w *comparison) rules(key string, old, new []Rule, before, after *Summary) {
	next := 0
	for _, r := range new {
		if next < len(old) && r.Match == old[next].Match && asStrict(&r, &old[next], before) {
			next++
			continue
		}
		w.when(loosens(&r, old, before, after), key, "a rule is new or another that takes restrictions back%s", forAPIs(r))
	}
	for _, r := range old[next:] {
		w.when(restricts(&r, before), key, "a rule that restricted its operations is gone or another%s", forAPIs(r))
	}
}

// loosens reports whether a rule may take back what one of the others, or the configuration as a whole, restricts.
func loosens(r *Rule, others []Rule, before, after *Summary) bool {
	other := func(has func(*Rule) bool) bool {
		return slices.ContainsFunc(others, func(o Rule) bool { return has(&o) })
	}
	switch {
	case r.Shared:
	case before.Auth != nil && r.scoped() && (other((*Rule).scoped) || !AsStrict(r.Scopes, before.Auth.DefaultScopes, before.Auth.Implies)):
	case r.Condition != "" && other(func(o *Rule) bool { return o.Condition != "" }):
	case r.Confirm != nil && !*r.Confirm && (after.Confirm || other((*Rule).confirms)):
	case r.Asks && other(func(o *Rule) bool { return len(o.Asked) > 0 }):
	default:
		return false
	}
	return true
}

func (r *Rule) scoped() bool   { return len(r.Scopes) > 0 || r.Unscoped }
func (r *Rule) confirms() bool { return r.Confirm != nil && *r.Confirm }

func forAPIs(r Rule) string {
	if len(r.API) == 0 {
		return ""
	}
	return " (for " + strings.Join(r.API, ", ") + ")"
}

// asStrict reports whether a rule restricts no less than the old one with the same selectors.
func asStrict(n, o *Rule, before *Summary) bool {
	scoped := before.Auth == nil || slices.Equal(n.Scopes, o.Scopes) && n.Unscoped == o.Unscoped || len(o.Scopes) > 0 && AsStrict(n.Scopes, o.Scopes, before.Auth.Implies)
	confirmed := n.Confirm == nil && o.Confirm == nil || n.Confirm != nil && (*n.Confirm || o.Confirm != nil && !*o.Confirm)
	conditioned := n.Condition == o.Condition
	return scoped && confirmed && conditioned && n.Asks == o.Asks && contains(n.Asked, o.Asked) && contains(n.Hidden, o.Hidden) && (o.Shared || !n.Shared)
}

// restricts reports whether calls need less without the rule.
func restricts(r *Rule, before *Summary) bool {
	return before.Auth != nil && (len(r.Scopes) > 0 || r.Condition != "") || r.confirms() || len(r.Asked) > 0 || len(r.Hidden) > 0
}
