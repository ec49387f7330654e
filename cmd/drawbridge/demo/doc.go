// Package demo holds a sample legacy service: the order book of a chandler's shop, with an OpenAPI document that
// uses the hard parts of the standard and carries the mistakes that real documents carry. It exists so that
// `drawbridge demo` has something worth putting a gateway in front of. It hides an in-memory store and the quirks
// of the service; the one rule: the same requests in the same order give the same answers, on every machine.
package demo
