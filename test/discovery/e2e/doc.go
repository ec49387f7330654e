// Package main measures service discovery from outside: the built program, a registry, and services of this process. It prints how soon
// services that come, go, move and get another name or document are followed, whether calls fail while a registry is away or services
// move, and what many services cost. It hides how services and registries are played, each kind of registry in a file of its own; the
// one rule: what is counted as failed is every call that did not return the service's response.
package main
