// Package task continues jobs after their calls: MCP tasks (2026-07-28, extension io.modelcontextprotocol/tasks),
// subscriptions to them, the webhooks that services send at the end of a job, and those that callers ask for. Package call
// meets it as [call.Continuation].
//
// The state of a task is in its sealed ID and at the service, so that any replica can answer for it; the store only spares
// requests. The rule that must not be broken: a caller that asks about a task has the permissions that the call needed, checked each
// time, and no caller learns of another's task.
package task
