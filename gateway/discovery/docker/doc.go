// Package docker finds services in the labels of containers, at a Docker daemon.
//
// It hides the version of the API, the stream of events that tells of changes, and which address of a container is used. It asks
// with three GETs; the client library would bring 20 modules (docs/contributing/adr/0037-registries-over-plain-http.md).
//
// The rule that must not be broken: only containers with the label drawbridge.service are read, and a container that can't be
// used is reported and costs no other its place.
package docker
