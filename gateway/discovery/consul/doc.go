// Package consul finds services in the catalog of Consul.
//
// It hides the blocking queries: one for the names of the services and one for the instances of each, how many wait at a time,
// their indexes, and what happens when an agent is away. Each is one GET; the client library of Consul would bring 16 modules
// (docs/contributing/adr/0037-registries-over-plain-http.md).
//
// The rule that must not be broken: services are reported once each of them has been read, never as a part of what the catalog
// has, and the token is sent to the agent alone and is in no error.
package consul
