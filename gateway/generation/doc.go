// Package generation makes what is served from a configuration. A [Deployment] is a configuration with its sources, its
// token guard and what else is made from it alone; a [Generation] is an immutable snapshot of everything that is served at
// one moment, built from a deployment and the documents that its sources have loaded so far.
//
// The package hides what a deployment takes over from the one before it, and how plans, endpoints and reports come to be.
// Which deployment is served, and when, is decided by package gateway/reload.
//
// The rule that must not be broken: no field of a generation is written after it was published. Only the views of its
// endpoints change.
package generation
