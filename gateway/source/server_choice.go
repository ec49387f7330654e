package source

import (
	"cmp"
	"crypto/rand"
	"crypto/x509"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// serverChoice is one of the servers of an API whose calls are distributed by claims or arguments (ADR 0079). Nothing is
// shared between two of them: connections, breaker, queue, credentials with their tokens, cached responses.
type serverChoice struct {
	values  []string // that select it, one for each selector
	key     string   // by [serverKey], of values
	option  openapi.ServerChoice
	api     config.API // as its calls see it
	clients *clients
	group   string // of cached responses
}

// newServerChoices returns the servers that calls select among; none if all calls have the same server.
func newServerChoices(deps *Deps, o authOptions, pem []byte, roots *x509.CertPool, label string) (all []*serverChoice, err error) {
	selectors := o.api.ServerSelectors()
	if len(selectors) == 0 {
		return nil, nil
	}
	for _, values := range combinations(selectors) {
		c := &serverChoice{values: values, key: serverKey(values), api: serverConfig(&o.api, selectors, values), group: rand.Text()}
		for i, s := range selectors {
			if name, ok := s.Variable(); ok {
				if c.option.Variables == nil {
					c.option.Variables = map[string]string{}
				}
				c.option.Variables[name] = values[i]
			} else {
				c.option.BaseURL = c.api.BaseURL.URL()
			}
		}
		own := o
		own.api, own.server = c.api, c.key
		auth, err := newUpstreamAuth(own)
		if err != nil {
			return nil, err
		}
		if deps.SharedCache {
			c.group = config.Fingerprint(o.api, o.limits, pem, values)
		}
		c.clients = &clients{deps: deps, api: &c.api, limits: o.limits, label: label, pem: pem, roots: roots, auth: auth}
		all = append(all, c)
	}
	return all, nil
}

// isSame reports whether a document that was compiled for one choice is compiled for the other, too.
func (c *serverChoice) isSame(other *serverChoice) bool {
	return c.key == other.key && maps.Equal(c.option.Variables, other.option.Variables) && reflect.DeepEqual(c.option.BaseURL, other.option.BaseURL)
}

// combinations returns the values by which servers are selected, one for each selector. Those of calls that select nothing are
// the first, if there are any.
func combinations(selectors []config.ServerSelector) [][]string {
	all := [][]string{nil}
	for _, s := range selectors {
		values := s.Allow
		if s.Default != "" {
			values = []string{s.Default}
			for _, value := range s.Allow {
				if value != s.Default {
					values = append(values, value)
				}
			}
		}
		var longer [][]string
		for _, before := range all {
			for _, value := range values {
				longer = append(longer, append(before[:len(before):len(before)], value))
			}
		}
		all = longer
	}
	return all
}

// serverKey returns a text that identifies values.
func serverKey(values []string) string {
	var key []byte
	for _, value := range values {
		key = append(strconv.AppendQuote(key, value), ' ')
	}
	return string(key)
}

// serverConfig returns the configuration of an API for the calls to one server: its base URL, and the credential that is configured
// for the origin of that.
func serverConfig(api *config.API, selectors []config.ServerSelector, values []string) config.API {
	own := *api
	for i, s := range selectors {
		if _, ok := s.Variable(); ok {
			continue
		}
		base := api.BaseURLs.Allow[values[i]]
		own.BaseURL = &base
		if _, c := serverCredential(api, own.BaseURL.URL()); c != nil {
			own.Credential, own.Credentials = c, nil
		}
		// The others go to none of its calls.
		own.ServerCredentials = map[string]*config.Credential{}
		for name, c := range api.ServerCredentials {
			if at, ok := origin.Parse(name); ok && !api.BaseURLs.HasOrigin(at) {
				own.ServerCredentials[name] = c
			}
		}
	}
	return own
}

// serverChoices returns the servers in the form for compiling a document.
func (l *loader) serverChoices() (all []openapi.ServerChoice) {
	for _, c := range l.choices {
		all = append(all, c.option)
	}
	return all
}

// setClients sets the client and the credentials for the calls of a document, for each server.
func (d *Document) setClients(l *loader, name string) {
	if len(l.choices) == 0 {
		d.Client = l.clients.forCalls(name, d.API, func(op *openapi.Operation) *url.URL { return op.Base })
		d.Credentials = selectCredentials(d.API, l.api, l.clients.auth)
		return
	}
	d.servers = nil
	for i, c := range l.choices {
		client := c.clients.forCalls(name, d.API, func(op *openapi.Operation) *url.URL { return baseAt(op, i) })
		d.servers = append(d.servers, documentServer{c, client, selectCredentials(d.API, &c.api, c.clients.auth)})
	}
	d.Client, d.Credentials = d.servers[0].client, d.servers[0].credentials
}

// documentServer is a server of a document's operations.
type documentServer struct {
	choice      *serverChoice
	client      *upstream.Client
	credentials *Credentials
}

// baseAt returns the base URL of an operation at a server; nil if it has none.
func baseAt(op *openapi.Operation, server int) *url.URL {
	if op.Bases == nil {
		return nil
	}
	return op.Bases[server]
}

// Servers are the servers that calls select among, by claims of their callers or by arguments.
type Servers struct {
	selectors []config.ServerSelector
	byKey     map[string]*Source
	list      []*Source
}

// Servers returns the servers that calls select among; nil if all calls have the same server. Each of them is the source
// as its calls see it: with its base URL, client, credentials and cache. It has the name that the source has now.
func (s *Source) Servers() *Servers {
	if s.Document == nil || len(s.Document.servers) == 0 {
		return nil
	}
	all := &Servers{selectors: s.Config.ServerSelectors(), byKey: map[string]*Source{}}
	for i, own := range s.Document.servers {
		d := *s.Document
		d.Client, d.Credentials = own.client, own.credentials
		view := &Source{
			Config: own.choice.api, Limits: s.Limits, Secrets: s.Secrets, CacheGroup: own.choice.group, PollSlots: s.PollSlots, AddsSecrets: s.AddsSecrets,
			Name: s.Name, FormerName: s.FormerName, Document: &d, deps: s.deps, owner: s.owner, clients: own.choice.clients, loader: s.loader, identity: s.identity,
			server: &i, selected: own.choice.values,
		}
		all.byKey[own.choice.key], all.list = view, append(all.list, view)
	}
	return all
}

// All returns the servers. That of calls that select nothing, if there is one, is the first.
func (s *Servers) All() []*Source { return s.list }

// Selection returns the values of the claims and variables that select a server, such as "tenant=acme".
func (s *Servers) Selection(server *Source) string {
	var texts []string
	for i, by := range s.selectors {
		name := by.Claim
		if !by.IsClaim() {
			name, _ = by.Variable()
		}
		texts = append(texts, name+"="+server.selected[i])
	}
	return strings.Join(texts, " ")
}

// Arguments returns the variables that the arguments of an operation's calls select: those that make a difference to its base URL.
func (s *Servers) Arguments(op *openapi.Operation) (all []config.ServerSelector) {
	for i, by := range s.selectors {
		if by.IsClaim() {
			continue
		}
		bases := map[string]string{} // by the other values
		for _, server := range s.list {
			base := ""
			if u := server.BaseURL(op); u != nil {
				base = u.String()
			}
			others := serverKey(slices.Delete(slices.Clone(server.selected), i, i+1))
			if first, ok := bases[others]; ok && first != base {
				all = append(all, by)
				break
			}
			bases[others] = base
		}
	}
	return all
}

// For returns the server of a call, and the text that identifies it. caller may be nil. given has the values of the variables that
// [Servers.Arguments] returns, each one that is allowed. The error is a [*credential.ServerError].
func (s *Servers) For(caller *auth.Principal, given map[string]string) (*Source, string, error) {
	values := make([]string, len(s.selectors))
	for i, by := range s.selectors {
		if name, _ := by.Variable(); !by.IsClaim() {
			values[i] = cmp.Or(given[name], by.Default, by.Allow[0])
			continue
		}
		switch claim := caller.Claim(by.Claim); {
		case claim != nil:
			text, ok := openapi.PlainText(claim)
			if !ok || !slices.Contains(by.Allow, text) {
				return nil, "", &credential.ServerError{Claim: by.Claim, Given: true}
			}
			values[i] = text
		case by.Default == "":
			return nil, "", &credential.ServerError{Claim: by.Claim}
		default:
			values[i] = by.Default
		}
	}
	key := serverKey(values)
	return s.byKey[key], key, nil
}

// Value returns the value of a variable that selects a server; "" if the variable selects none.
func (s *Servers) Value(server *Source, variable string) string {
	for i, by := range s.selectors {
		if name, ok := by.Variable(); ok && name == variable {
			return server.selected[i]
		}
	}
	return ""
}

// Again returns the server of an earlier call by the text that identifies it; nil if it is gone, or if the claims of the caller, who
// may be nil, select another one now.
func (s *Servers) Again(caller *auth.Principal, key string) *Source {
	server := s.byKey[key]
	if server == nil {
		return nil
	}
	given := map[string]string{}
	for i, by := range s.selectors {
		if name, ok := by.Variable(); ok && !by.IsClaim() {
			given[name] = server.selected[i]
		}
	}
	if same, _, err := s.For(caller, given); err != nil || same != server {
		return nil
	}
	return server
}
