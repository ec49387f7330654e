package gatewaytest

// AnswerDocument is a document of operations whose responses are of different kinds.
const AnswerDocument = `
openapi: 3.2.0
info: {title: Answers, version: "1"}
paths:
  /watch:
    get: {operationId: watch, responses: {"200": {description: Events., content: {text/event-stream: {}}}}}
  /lines:
    get: {operationId: lines, responses: {"200": {description: Lines., content: {application/jsonl: {}}}}}
`
