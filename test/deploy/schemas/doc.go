// Command schemas writes JSON Schemas for kubeconform: those of Kubernetes' own kinds, made of its OpenAPI document, and
// those of custom resources, made of their definitions. It hides how both are written. The one rule: an object takes no
// member that its schema does not name, so that a misspelled key is found.
package main
