// Package filewatch notices changes of files and directories.
//
// It hides the events of the operating system, their limits and losses, and the ways in which files are replaced: by editors, and by the
// mounted ConfigMaps and Secrets of Kubernetes. The rule that must not be broken: a change is noticed without any event of the system,
// later, because contents are compared.
package filewatch
