// Package main does tasks on four real services through the gateway, as docs/contributing/tasks.md describes: by scripts, by a model, or by
// any model that has a command-line client. It hides how the services are started, reset and asked. The one rule: a task counts as solved
// by the state that the service itself tells, never by an answer of the gateway.
package main
