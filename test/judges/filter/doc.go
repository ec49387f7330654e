// Package filter is the judge of parameters: what the gateway sends is decoded by kin-openapi's openapi3filter into the
// arguments that went in, for generated documents that cover the whole table of styles (location × style × explode × type).
//
// It hides the generated documents, a router, and a second decoder of our own, which is written from the tables of the
// standard and shares no code with the encoders. Every parameter is held against both. Where openapi3filter departs from
// the standard a rule names the clause, the second decoder decides alone, and a case of its own keeps the rule true. All
// of it stands in test files: openapi3filter is a judge, and no part of the program.
package filter
