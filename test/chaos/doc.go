// Command chaos produces the figures of docs/contributing/chaos.md: what becomes of callers while services, networks, clients, replicas and
// documents fail in front of them. It runs the built gateway, a fault proxy and real proxies from outside, and takes those figures
// that other programs and tests measure from them.
//
// Each figure is there in two sizes, scaled for make chaos and whole, and those that need no quiet machine in a third, short for CI.
// The one rule: a figure counts what its own client has seen, and what could not be measured is not ok.
package main
