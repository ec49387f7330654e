// Package apicatalog finds services in an API catalog (RFC 9727), a link set in JSON.
//
// It hides how often the catalog is asked for, which links are APIs, and which of the links of an API leads to its OpenAPI
// document. The catalogs that a catalog links to are not read.
//
// The rule that must not be broken: the name of a service is made of the URL of its API alone, so that no other entry of the
// catalog changes it.
package apicatalog
