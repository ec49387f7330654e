// Package discovery turns the services of registries into APIs: providers say which services there are, the package finds
// their OpenAPI documents, names them, and decides which become APIs.
//
// It hides how providers run and stop, how documents are looked up, which services are held or refused and why, and what
// is kept of a registry that can't be asked. A [Manager] publishes an immutable [Snapshot]; the reload turns it into
// a configuration ([config.Config.WithServices]).
//
// The rule that must not be broken: registrations are not trusted. A name from a registry never replaces that of
// another API, a server is used only within allow_servers and allow_addresses, and nothing is sent to a service but what
// the configuration names it for.
package discovery
