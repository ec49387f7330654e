package widening

import "fmt"

// sentences are the reports of keys that are wider, by their paths; one that names an entry of a list is repeated for each. A path with
// " gone" has the report of a value that is absent now. A key without a sentence has a general one.
var sentences = map[string]string{
	"server.trusted_proxies":              "the word of %s about its callers' addresses is taken",
	"server.tls":                          "tokens and answers travel in clear",
	"admin.token":                         "requests can reload the configuration, and accept documents",
	"auth.allow_unscoped":                 "operations without scopes of their own need none",
	"auth.hide_unauthorized":              "callers see tools that they may not call",
	"auth.shared_audience":                "a token for one of the public URLs is accepted at all of them",
	"auth.dpop_nonce":                     "proofs of possession need no nonce any more",
	"auth.issuers":                        "tokens of %s are accepted",
	"auth.issuers.preset":                 "preset is another, which decides what tokens are accepted",
	"auth.issuers.introspection.endpoint": "another URL is asked about tokens",
	"auth.issuers.ca_file":                "ca_file is another, so other servers are trusted",
	"auth.issuers.audiences":              "tokens for the audience %q are accepted",
	"auth.issuers.client_ids":             "client_ids accepts tokens of clients that were refused",
	"auth.issuers.require_client":         "tokens need not name their client any more",
	"auth.issuers.id_token_claims":        "id_token_claims is another, which decides what ID tokens are refused",
	"auth.issuers.scope_claims":           "scopes are taken from other claims",
	"auth.issuers.max_lifetime":           "tokens of a longer lifetime are accepted",
	"auth.issuers.dpop":                   "dpop: %s accepts tokens that %s refused",
	"auth.issuers.algorithms":             "more algorithms are accepted",
	"auth.issuers.accept_typ":             "accept_typ accepts more kinds of tokens",
	"auth.issuers.skew":                   "skew is larger, so that expired tokens are accepted for longer",
	"auth.issuers.directories":            "tokens of the directory %s are accepted",
	"auth.keys":                           "the key %q is accepted",
	"auth.keys.hash":                      "another key is accepted",
	"auth.keys.principal":                 "it has the rights and the tasks of another principal",
	"auth.keys.groups":                    "the caller belongs to the group %q",
	"auth.keys.scopes":                    "the key has the scope %q",
	"auth.keys.expires":                   "it is accepted for longer",
	"auth.keys.addresses":                 "it is accepted from %s",
	"auth.keys.addresses gone":            "it is accepted from all addresses",
	"tools.callback_urls":                 "the gateway calls %q for its callers",
	"tools.lock":                          "another file approves the tools",
	"tools.lock gone":                     "tools need no approval any more",
	"tools.confirm":                       "destructive tools do not wait for consent any more",
	"tools.unconfirmed":                   "calls go on where nobody can be asked for consent",
	"limits.address_rate":                 "an address may send more requests",
	"limits.principal_rate":               "a principal may send more requests",
	"limits.max_calls":                    "more calls run at once",
	"endpoints":                           "tokens for the endpoint %q are accepted",
	"endpoints.match":                     "match selects other operations",
	"prompts.endpoints":                   "callers of more endpoints get it",
	"skills.endpoints":                    "callers of more endpoints get it",
	"discovery.services":                  "other services become APIs",
	"discovery.api_name":                  "APIs of services have other names, which rules match",
	"apis.base_url":                       "calls go to another place: base_url or server_variables is another",
	"apis.base_urls":                      "calls go to other places: base_urls is another",
	"apis.server_variables":               "calls go to another place: base_url or server_variables is another",
	"apis.ca_file":                        "ca_file is another, so other servers are trusted",
	"apis.tls.server_name":                "tls.server_name is another, so other servers are trusted",
	"apis.tls.min_version":                "tls.min_version is lower",
	"files.capability_urls":               "capability_urls lets everybody who has the URL of an upload store its file",
	"apis.trust_extensions":               "trust_extensions lets the document decide on its restrictions",
	"apis.trust_extensions gone":          "trust_extensions is off, so the restrictions in the document no longer apply",
	"apis.answer_headers":                 "answer_headers shows callers more headers of the service's answers",
	"apis.follow_redirects":               "follow_redirects lets the service lead calls to other paths",
	"apis.allow_servers":                  "allow_servers lets calls go to %q",
	"apis.root":                           "root lets the document take parts from other files",
	"apis.allow_refs":                     "allow_refs lets the document take parts from %q",
	"apis.allow_addresses":                "allow_addresses lets calls go to %s",
	"apis.scopes_from_document":           "scopes_from_document is off, so calls need fewer scopes",
	"apis.rate":                           "rate is gone or allows more calls",
	"apis.max_in_flight":                  "max_in_flight lets more calls run at once",
	"discovery.file":                      anotherRegistry, "discovery.http": anotherRegistry, "discovery.kubernetes": anotherRegistry, "discovery.consul": anotherRegistry,
	"discovery.docker": anotherRegistry, "discovery.api_catalog": anotherRegistry, "discovery.dns": anotherRegistry,
	"discovery.service_center": anotherRegistry, "discovery.eureka": anotherRegistry, "discovery.nacos": anotherRegistry,
}

const anotherRegistry = "services are taken from another registry"

// sentenceOf returns the report of a key.
func sentenceOf(path, name string, gone bool) string {
	if sentence, ok := sentences[path+" gone"]; ok && gone {
		return sentence
	}
	if sentence, ok := sentences[path]; ok {
		return sentence
	}
	return name + " is another"
}

// prefixOf returns the beginning of the reports about an entry of a list.
func prefixOf(path, name string) string {
	switch path {
	case "auth.issuers":
		return fmt.Sprintf("%s: of %s, ", path, name)
	case "discovery":
		return fmt.Sprintf("%s.%s: ", path, name)
	}
	return fmt.Sprintf("%s: of %q, ", path, name)
}
