package former

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Wider returns the ways in which a configuration gives more access than the one before it. Each is
// a sentence without a full stop that begins with a configuration key. Access of a new API is not
// wider, because nothing restricted it before. documents returns the document of new.APIs[i], whose
// operations were compared one by one, or nil if it is unknown. It may be nil itself.
func Wider(old, new *Summary, documents func(i int) *Document) (opens []string) {
	w := &comparison{}
	w.auth(old, new)
	w.added("server.allowed_hosts", "requests for the host %q are let in", old.Hosts, new.Hosts, coversHost)
	w.added("admin.allowed_hosts", "operators' requests for the host %q are let in", old.AdminHosts, new.AdminHosts, coversHost)
	w.added("server.allowed_origins", "pages of the origin %q are let in", old.Origins, new.Origins, equal)
	w.networks("server.trusted_proxies", "the word of %s about its callers' addresses is taken", old.Proxies, new.Proxies)
	w.added("tools.callback_urls", "the gateway calls %q for its callers", old.CallbackURLs, new.CallbackURLs, equal)
	w.when(old.ClientCAs && !new.ClientCAs, "server.tls.client_ca_file", "clients need no certificate any more")
	w.when(new.ClientCAs && old.Clients != nil && !contains(old.Clients, new.Clients), "server.tls.client_ca_file", "clients of other authorities are let in")
	w.when(old.TLS && !new.TLS, "server.tls", "tokens and answers travel in clear")
	w.when(old.Local && !new.Local, "server.listen", "other machines reach the gateway")
	w.when(old.AdminLocal && !new.AdminLocal, "admin.listen", "other machines reach the listener for operators")
	w.when(old.AdminRefuses && !new.AdminRefuses, "admin.token", "requests can reload the configuration, and accept documents")
	w.console(old.Console, new.Console)
	w.when(old.Lock != "" && new.Lock == "", "tools.lock", "tools need no approval any more")
	w.when(old.Lock != "" && new.Lock != "" && new.Lock != old.Lock, "tools.lock", "another file approves the tools")
	w.when(old.Confirm && !new.Confirm, "tools.confirm", "destructive tools do not wait for consent any more")
	w.when(old.Refuse && !new.Refuse, "tools.unconfirmed", "calls go on where nobody can be asked for consent")
	w.when(len(new.Exempt) > 0 && (len(old.Exempt) == 0 || !contains(new.Exempt, old.Exempt)), "tools.unconfirmed_scopes",
		"callers with other scopes than before are not asked for consent")
	w.limits(&old.Limits, &new.Limits)
	w.endpoints(old, new)
	w.prompts(old, new)
	w.outside(old, new)
	w.providers(old, new)
	w.apis(old, new, documents)
	return w.opens
}

// comparison collects the ways in which a configuration is wider.
type comparison struct {
	opens    []string
	compared int // see maxComparisons
}

func (w *comparison) when(wider bool, key, format string, args ...any) {
	if wider {
		w.opens = append(w.opens, key+": "+fmt.Sprintf(format, args...))
	}
}

// added reports each new value that no old one covers.
func (w *comparison) added(key, format string, old, new []string, covers func(old, new string) bool) {
	for _, v := range new {
		w.when(!slices.ContainsFunc(old, func(o string) bool { return covers(o, v) }), key, format, v)
	}
}

func equal(old, new string) bool { return old == new }

// coversHost reports whether an old entry covers a new one: an entry without a port covers every
// port.
func coversHost(old, new string) bool {
	return old == new || !strings.Contains(strings.TrimPrefix(new, old), "]") && strings.HasPrefix(new, old+":") && strings.Count(new[len(old):], ":") == 1
}

func (w *comparison) networks(key, format string, old, new []netip.Prefix) {
	for _, n := range new {
		w.when(!slices.ContainsFunc(old, func(o netip.Prefix) bool { return o.Bits() <= n.Bits() && o.Contains(n.Addr()) }), key, format, n)
	}
}

// contains reports whether whole contains all of part.
func contains(whole, part []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

// within reports whether a list, which restricts only if it has entries, does not allow more than
// the old one.
func within(old, new []string) bool {
	return len(old) == 0 || len(new) > 0 && contains(old, new)
}

func (w *comparison) auth(old, new *Summary) {
	switch {
	case old.Auth == nil:
		w.when(new.Anonymous && !old.Anonymous, "auth.anonymous", "everybody who reaches the gateway is served, on any address")
		return // no token was required
	case new.Auth == nil:
		w.when(true, "auth", "nobody needs a token any more")
		return
	}
	o, n := old.Auth, new.Auth
	w.when(n.AllowUnscoped && !o.AllowUnscoped, "auth.allow_unscoped", "operations without scopes of their own need none")
	w.when(!AsStrict(n.DefaultScopes, o.DefaultScopes, o.Implies), "auth.default_scopes", "%s suffices where %s was needed", scopes(n.DefaultScopes), scopes(o.DefaultScopes))
	w.when(o.Hide && !n.Hide, "auth.hide_unauthorized", "callers see tools that they may not call")
	w.when(n.Shared && !o.Shared, "auth.shared_audience", "a token for one of the public URLs is accepted at all of them")
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
	when(o.CAFile != n.CAFile, "ca_file is another, so other servers are trusted")
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

// prompts compares the scopes of prompts. A new prompt is treated as a new API is, and one that
// reappears is compared with its last version.
func (w *comparison) prompts(old, new *Summary) {
	if old.Auth == nil || new.Auth == nil {
		return
	}
	for _, n := range new.Prompts {
		known := slices.Concat(old.Prompts, old.GonePrompts)
		at := slices.IndexFunc(known, func(o Prompt) bool { return o.Name == n.Name })
		if at < 0 {
			continue
		}
		o := known[at]
		is, was := orDefault(n.Scopes, new.Auth), orDefault(o.Scopes, old.Auth)
		w.when(!AsStrict(is, was, old.Auth.Implies), "prompts", "of %q, %s suffices where %s was needed", n.Name, scopes(is), scopes(was))
		w.when(o.Endpoints != nil && !contains(o.Endpoints, n.Endpoints), "prompts", "of %q, callers of more endpoints get it", n.Name)
	}
}

func orDefault(list []string, a *Auth) []string {
	if len(list) == 0 {
		return a.DefaultScopes
	}
	return list
}

// AsStrict reports whether every caller with all the scopes of new also has those of old, given the
// implied scopes.
func AsStrict(new, old []string, implies map[string][]string) bool {
	return contains(closure(implies, new), old)
}

// closure returns scopes with all that they imply.
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
