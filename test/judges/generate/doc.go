// Package generate makes values that fit a JSON Schema 2020-12, for the judges that compare what the gateway sends with
// what others send or accept.
//
// It hides how references, composition and bounds are turned into a value, and the values at the edges: characters that
// mean something in URLs, empty texts, the ends of int64. A value depends on the schema, the options and the random
// source alone, so that a run can be repeated by its seed.
//
// The one rule: no value leaves this package that openapi/schema's validator refuses. Where none is found the caller
// hears why.
package generate
