// Package kubernetes finds services in a Kubernetes cluster: its Services, with their ports, annotations and EndpointSlices.
//
// It hides the protocol of the API server (lists in pages, watches that go on where they ended, bookmarks, versions that are
// gone), how the gateway authenticates there, and which port and which addresses of a Service are those of its API.
//
// The rule that must not be broken: annotations are not trusted. They never change by which name and namespace a service is
// known, since what is sent to services is chosen by these.
package kubernetes
