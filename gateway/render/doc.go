// Package render converts the response of a service to the content of an MCP result: content blocks, structuredContent,
// headers, resource links, the contents of resources, and the texts for errors, redirects and jobs.
//
// It hides the form of a result in each protocol revision, and the wording for the model. An answer is the content of a
// response, which package openapi/answer has split into parts. Drift is a difference between an answer and the document
// (package openapi/drift). A note is a text of the gateway beside an answer. The package does not depend on calls,
// plans or endpoints, sends nothing, and counts nothing: its functions and small structs receive their inputs, and
// return JSON and text. The rule that must not be broken: nothing of a response gets into a result before it has passed
// the [redact.Redactor] of its call, and a host name of the service never does, unless the document declares a
// redirect. Codes such as P5 and E9 in comments are requirements of docs/security.md.
package render
